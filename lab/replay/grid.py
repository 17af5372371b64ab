"""States of all datasets at every minute of a slab, as what of them changes.

Most datasets are well all day. So all of them are judged at each instant, and only those that are
bad or unknown at one, with those of near names, are asked why: the others have no reasons.
"""

from collections.abc import Iterable
from typing import Final

import msgspec
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from lineage.process.clock import from_micros
from lineage.states import BAD, GOOD, UNKNOWN
from slis.evaluation.facts_as_of import facts_as_of
from slis.evaluation.judge_datasets import datasets_judged
from slis.evaluation.reasons import add_reasons
from slis.evaluation.sli_schemas import INSTANTS
from slis.evaluation.wording import near_key_column
from slis.spark.planning import local_rows

MINUTE: Final = 60_000_000  # µs; coarser grids would miss what a hold of 30 s separates
CHANGES: Final = """
    as_of timestamp, dataset_key bigint, sli string, state string, reason string, evidence string,
    limit_seconds double, limit_origin string
"""
"""What a dataset is from an instant on, by one SLI; until its next change, whatever the slab."""


class SlabFrames(msgspec.Struct, frozen=True):
    """Frames of `sli_schemas` that a slab is judged by.

    Attributes:
        activity: ACTIVITY: what stood before, and what arrived in it.
        datasets: DATASETS.
        into_streams: EDGES.
        expected: EDGES that make late.
        gaps: GAPS.
        pauses: PAUSES; none: time counts around the clock.
    """

    activity: DataFrame
    datasets: DataFrame
    into_streams: DataFrame
    expected: DataFrame
    gaps: DataFrame
    pauses: DataFrame | None


def instants(spark: SparkSession, starts_at: int, ends_at: int) -> DataFrame:
    """Return `sli_schemas.INSTANTS`: each minute from `starts_at` until before `ends_at`, µs."""
    rows = [(from_micros(at),) for at in range(starts_at, ends_at, MINUTE)]
    return local_rows(spark, rows, INSTANTS)


def changes(given: SlabFrames, grid: DataFrame) -> pa.Table:
    """Return `CHANGES` within a slab; its first instant has every state of datasets ever not good.

    Of a dataset that is well throughout, the first instant at which it is good: lineage that was
    there is distinguished from missing lineage.
    """
    # What follows is asked of what was found, not of the plan that found it: Spark would analyse
    # that plan again for each time it is named, which are minutes.
    swept = _swept(_judged(given, given.datasets, grid)).localCheckpoint()
    not_good = swept.where("is_not_good").select("dataset_key").distinct()
    near = _with_near(given, not_good).localCheckpoint()
    asked = _asked(given, near, grid)
    others = swept.join(F.broadcast(near.select("dataset_key")), "dataset_key", "left_anti")
    well = others.where("good_at IS NOT NULL").select(*_first_good())
    return asked.unionByName(well).toArrow()


def _judged(given: SlabFrames, datasets: DataFrame, grid: DataFrame) -> DataFrame:
    """Judge at each time, and fold pauses only where they can matter: that stage is not compiled.

    They can for who has a plan, and a limit that is declared or a stream's: a learned one has them
    in it already.
    """
    if given.pauses is None:
        return _judged_with(given, datasets, grid, None)
    streams = given.activity.where("write.is_streaming").select("dataset_key").distinct()
    paused = datasets.join(
        F.broadcast(streams.withColumn("wrote_stream", F.lit(True))), "dataset_key", "left"
    )
    has_own = F.col("declared_limit_seconds").isNotNull() | F.col("is_streaming")
    is_paused = F.col("plan").isNotNull() & (has_own | F.col("wrote_stream").isNotNull())
    keys = paused.where(is_paused).select("dataset_key")
    asked = datasets.join(F.broadcast(_with_inputs(keys, given)), "dataset_key", "left_semi")
    plain = _judged_with(given, datasets, grid, None)
    paused = _judged_with(given, asked, grid, given.pauses)
    return plain.join(F.broadcast(keys), "dataset_key", "left_anti").unionByName(
        paused.join(F.broadcast(keys), "dataset_key", "left_semi")
    )


def _with_inputs(keys: DataFrame, given: SlabFrames) -> DataFrame:
    """Return these datasets, and what streams among them read: this decides which are idle."""
    into = given.into_streams.join(
        F.broadcast(keys.withColumnRenamed("dataset_key", "downstream_key")), "downstream_key"
    )
    return keys.union(into.select(F.col("upstream_key").alias("dataset_key"))).distinct()


def _judged_with(
    given: SlabFrames, datasets: DataFrame, grid: DataFrame, pauses: DataFrame | None
) -> DataFrame:
    keys = F.broadcast(datasets.select("dataset_key"))
    activity = given.activity.join(keys, "dataset_key", "left_semi")
    facts = facts_as_of(activity, datasets, grid)
    return datasets_judged(facts, given.into_streams, given.gaps, pauses)


def _swept(judged: DataFrame) -> DataFrame:
    """Return one row a dataset and SLI: whether it is ever not good, and when first good."""
    state = F.col("judgement.state")
    return judged.groupBy("dataset_key", F.col("judgement.sli").alias("sli")).agg(
        F.max(state.isin(BAD, UNKNOWN)).alias("is_not_good"),
        F.min(F.when(state == GOOD, F.col("as_of"))).alias("good_at"),
    )


def _with_near(given: SlabFrames, not_good: DataFrame) -> DataFrame:
    """Return datasets that are not good, those with similar names, and those their streams read."""
    datasets = given.datasets
    named = datasets.withColumn("near", near_key_column(F.col("name")))
    asked = named.join(F.broadcast(not_good), "dataset_key").select("near").distinct()
    like = named.join(F.broadcast(asked), "near", "left_semi").select("dataset_key")
    chosen = _with_inputs(like.union(not_good).distinct(), given)
    return datasets.join(F.broadcast(chosen), "dataset_key", "left_semi")


def _asked(given: SlabFrames, datasets: DataFrame, grid: DataFrame) -> DataFrame:
    judged = _judged(given, datasets, grid).localCheckpoint()
    explained = add_reasons(judged, given.expected)
    before = F.lag(F.struct("state", "reason")).over(
        Window.partitionBy("dataset_key", "sli").orderBy("as_of")
    )
    # A reason may be null on both sides, which is no change.
    is_new = before.isNull() | ~before.eqNullSafe(F.struct("state", "reason"))
    changed = explained.withColumn("is_new", is_new).where("is_new")
    return changed.select(*(F.col(name) for name in _names()))


def _first_good() -> Iterable[Column]:
    null = F.lit(None)
    yield F.col("good_at").alias("as_of")
    yield from (F.col("dataset_key"), F.col("sli"), F.lit(GOOD).alias("state"))
    yield from (null.cast("string").alias(name) for name in ("reason", "evidence"))
    yield null.cast("double").alias("limit_seconds")
    yield null.cast("string").alias("limit_origin")


def _names() -> list[str]:
    return [part.split()[0] for part in CHANGES.split(",")]
