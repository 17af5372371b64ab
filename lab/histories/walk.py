"""Limits of each history, learned as the product does: after each write, from the writes so far."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lab.histories.folder import WriteHistory
from lab.simulation.wall_clock import NEVER_DUE
from lineage.process.clock import DAY_MICROS, from_micros
from lineage.sli_limits import HISTORY_DAYS
from slis.cadence import cadence, cadence_limits
from slis.cadence.working_time import WorkingTime
from slis.cadence.working_week import Micros
from slis.evaluation.sli_schemas import GAPS, WRITES
from slis.spark.planning import local_rows

TIMES: cadence.WorkingTimes = {None: WorkingTime()}
# A dataset with so many writes a day is learned again each six hours. The product does it each 15
# minutes, for the same limits: of 500 gaps a few more are known.
_OFTEN, _FAST_RELEARN = 8, DAY_MICROS // 4
# The pool of the estate, made of the newest profile of each dataset written in half a year.
_POOL_EVERY = 28 * DAY_MICROS


def learned_deadlines(spark: SparkSession, histories: Sequence[WriteHistory]) -> list[Micros]:
    """Return when each gap of each history is late; `NEVER_DUE` where there was no limit."""
    due = [np.full(history.written_at.size - 1, NEVER_DUE) for history in histories]
    for row in _learned(spark, histories):
        at = histories[row.dataset_key].written_at
        first = int(np.searchsorted(at, row.as_of))
        last = int(np.searchsorted(at, row.next_as_of))
        places = np.arange(first, min(last, at.size - 1))
        if not places.size:
            continue
        # The first gap begins where the profile says; a repeated write begins none of its own.
        begun = np.append(row.last_micros, at[places[1:]])
        due[row.dataset_key][places] = cadence_limits.deadlines(row, begun, TIMES[None])
    return due


def _learned(spark: SparkSession, histories: Sequence[WriteHistory]) -> Iterator[Any]:
    """Yield profiles with limits, each with the time of its dataset's next one."""
    profiles = _profiles(spark, histories).persist()
    try:
        limited = cadence_limits.with_tails(*_with_pools(profiles))
        rows: pd.DataFrame = (
            limited.drop("as_of").withColumnRenamed("learned_at", "as_of").toPandas()
        )
    finally:
        profiles.unpersist()
    if (rows.problem.notna()).any():
        raise ValueError(f"a profile failed: {rows.problem.dropna().iloc[0]}")
    rows = rows.sort_values(["dataset_key", "as_of"])
    following = rows.groupby("dataset_key").as_of.shift(-1)
    rows["next_as_of"] = following.fillna(NEVER_DUE).astype("int64")
    yield from rows[rows.limit.notna() & cadence_limits.has_limit(rows)].itertuples()


def _profiles(spark: SparkSession, histories: Sequence[WriteHistory]) -> DataFrame:
    first = min(int(history.written_at[0]) for history in histories)
    last = max(int(history.written_at[-1]) for history in histories)
    return cadence.profiles_after_writes(
        _writes(spark, histories),
        local_rows(spark, [], GAPS),
        span=(from_micros(first), from_micros(last)),
        instants_of=learning_times,
        times=TIMES,
    )


def _writes(spark: SparkSession, histories: Sequence[WriteHistory]) -> DataFrame:
    """Return `WRITES` of the histories; a dataset's key is its place."""
    keys = [np.full(one.written_at.size, key) for key, one in enumerate(histories)]
    at = np.concatenate([one.written_at for one in histories])
    facts = pd.DataFrame({"dataset_key": np.concatenate(keys), "micros": at})
    frame = spark.createDataFrame(facts, "dataset_key bigint, micros bigint")
    known = {
        "dataset_key": F.col("dataset_key"),
        "written_at": F.timestamp_micros("micros"),
        "landed_at": F.timestamp_micros("micros"),
        "is_streaming": F.lit(False),
    }
    fields = local_rows(spark, [], WRITES).schema.fields
    return frame.repartition(2, "dataset_key").select(
        *(
            known.get(field.name, F.lit(None)).cast(field.dataType).alias(field.name)
            for field in fields
        )
    )


def learning_times(at: Micros) -> list[int]:
    """Return after which writes limits are learned again."""
    times: list[int] = []
    for place, instant in enumerate(at.tolist()):
        is_often = place >= _OFTEN and instant - at[place - _OFTEN] < DAY_MICROS
        if not is_often or instant - times[-1] >= _FAST_RELEARN:
            times.append(instant)
    return times


def _with_pools(profiles: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Return the profiles and the pools of the estate, joined by the time of the pool."""
    pooled_at = (F.floor(F.col("as_of") / _POOL_EVERY) * _POOL_EVERY).cast("bigint")
    known = profiles.withColumnRenamed("as_of", "learned_at")
    times = profiles.select(pooled_at.alias("as_of")).distinct()
    half_a_year = HISTORY_DAYS * DAY_MICROS
    newest = (
        known.select("dataset_key", "learned_at")
        .join(
            F.broadcast(times),
            (F.col("learned_at") <= F.col("as_of"))
            & (F.col("learned_at") > F.col("as_of") - half_a_year),
        )
        .groupBy("as_of", "dataset_key")
        .agg(F.max("learned_at").alias("learned_at"))
    )
    pools = cadence_limits.pools(known.join(F.broadcast(newest), ["dataset_key", "learned_at"]))
    return known.withColumn(
        "as_of", (F.floor(F.col("learned_at") / _POOL_EVERY) * _POOL_EVERY).cast("bigint")
    ), pools
