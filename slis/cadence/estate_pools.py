"""Scores of the whole estate: each dataset's newest ones, learned in this pass or before."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from sqlalchemy import Connection

from lineage.catalog.meta_keys import POOLS
from lineage.process.clock import to_micros
from lineage.sli_limits import HISTORY_DAYS
from slis.meta import list_meta, put_meta
from slis.spark.planning import local_rows

# Enough for the tail of one alarm in 1,000 weeks, and 80 kB of JSON a class. A dataset with many
# scores gives a sample, so that a class is not of twenty datasets.
MAX_SCORES, _MAX_OF_DATASET = 10_000, 100
_DIGITS = 4
ESTATE_SCORES = "dataset_key bigint, cadence_class string, scores array<double>"


class DatasetScores(msgspec.Struct, frozen=True):
    """Scores of one dataset's profile, as of when it was learned, in microseconds."""

    dataset_key: int
    cadence_class: str
    scores: list[float]
    learned_at: int = 0


def load_scores(connection: Connection) -> list[DatasetScores]:
    """Return the stored scores, of all classes."""
    stored = list_meta(connection, POOLS)
    return [one for text in stored for one in msgspec.json.decode(text, type=list[DatasetScores])]


def store_scores(
    connection: Connection, stored: Iterable[DatasetScores], kept: Iterable[DatasetScores]
) -> None:
    """Store the scores that are kept in place of those that were stored, a row for each class."""
    by_class: dict[str, list[DatasetScores]] = {one.cadence_class: [] for one in stored}
    for one in kept:
        by_class.setdefault(one.cadence_class, []).append(one)
    pools = {POOLS + name: msgspec.json.encode(rows).decode() for name, rows in by_class.items()}
    put_meta(connection, pools)


def scores_frame(spark: SparkSession, stored: Iterable[DatasetScores]) -> DataFrame:
    """Return `ESTATE_SCORES` of stored scores."""
    rows = [(one.dataset_key, one.cadence_class, one.scores) for one in stored]
    return local_rows(spark, rows, ESTATE_SCORES)


def estate_scores(profiles: DataFrame, stored: DataFrame) -> DataFrame:
    """Return `ESTATE_SCORES` and `as_of` of every dataset: fresh where it has just been learned.

    Args:
        profiles: `cadence.PROFILES` as of one instant.
        stored: `ESTATE_SCORES`.
    """
    fresh = profiles.select("dataset_key", "cadence_class", "scores")
    others = stored.join(F.broadcast(fresh.select("dataset_key")), "dataset_key", "left_anti")
    # One pool a class: all of them hold as of now.
    return others.unionByName(fresh).withColumn("as_of", F.lit(0).cast("bigint"))


def sampled_scores(profiles: DataFrame) -> DataFrame:
    """Return `ESTATE_SCORES` to be stored: of some datasets of each class, some scores each."""
    step = F.ceil(F.greatest(F.size("scores"), F.lit(1)) / _MAX_OF_DATASET)
    offset = F.pmod(F.xxhash64("dataset_key"), step)
    picked = F.filter("scores", lambda _, place: F.pmod(place, step) == offset)
    rounded = F.transform(picked, lambda score: F.round(score, _DIGITS)).alias("scores")
    rows = profiles.select("dataset_key", "cadence_class", rounded).where(F.size("scores") > 0)
    at_random = Window.partitionBy("cadence_class").orderBy(F.xxhash64("dataset_key"))
    before = F.sum(F.size("scores")).over(at_random)
    return (
        rows.select("*", before.alias("before")).where(F.col("before") <= MAX_SCORES).drop("before")
    )


def merge_scores(
    stored: Iterable[DatasetScores], fresh: Iterable[DatasetScores], as_of: datetime
) -> list[DatasetScores]:
    """Return the scores to keep: a dataset's newest, of each class the newest up to the bound.

    What was not learned for half a year goes, so that a class without datasets empties.
    """
    oldest = to_micros(as_of - timedelta(days=HISTORY_DAYS))
    newest = {one.dataset_key: one for one in (*stored, *fresh)}
    kept: list[DatasetScores] = []
    counts: dict[str, int] = {}
    for one in sorted(newest.values(), key=lambda one: -one.learned_at):
        count = counts.get(one.cadence_class, 0) + len(one.scores)
        if one.learned_at >= oldest and count <= MAX_SCORES:
            counts[one.cadence_class] = count
            kept.append(one)
    return kept
