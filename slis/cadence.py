"""Cadences: what the gaps between a dataset's writes tell of when the next one is due."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from slis.cadence_training import MIN_GAPS, mad, trained
from slis.working_week import (
    WEEK_HOURS,
    Floats,
    Hours,
    wall_seconds,
    working_hours,
    working_seconds,
)

HISTORY_DAYS = 180
MAX_GAPS = 500
_WEEK_SECONDS = 7 * 86_400.0
_PERIODIC_SPREAD = 0.2
_BURST = 0.1
_LEAST_SPREAD = 0.01
STREAMING, PERIODIC, BURSTY, EVENT_DRIVEN = "streaming", "periodic", "bursty", "event_driven"

# What one dataset's gaps tell. Seconds are working seconds; `hours` are the 168 of the week, 1
# or 0;
# `scores` are (gap - expected) / spread; `last_wall` is when the newest write was.
PROFILES = """
    dataset_key bigint, cadence_class string, gaps int, expected double, spread double,
    largest double, cycles_per_week double, scores array<double>, hours string, last_wall double,
    last_micros bigint
"""


def profiles(
    writes: DataFrame, our_gaps: DataFrame, *, as_of: datetime, time_zone: str
) -> DataFrame:
    """`PROFILES` of each dataset with a write in the last 180 days."""
    sequences = _sequences(writes, our_gaps, as_of)

    # Misses and changes of cadence are a loop over a sequence: see `cadence_training`.
    def profile(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            yield pd.DataFrame([_profile(row, time_zone) for row in batch.itertuples()])

    return sequences.mapInPandas(profile, PROFILES)


def _sequences(writes: DataFrame, our_gaps: DataFrame, as_of: datetime) -> DataFrame:
    """Per dataset its newest 501 writes in order, and which of the gaps before them may teach."""
    newest = Window.partitionBy("dataset_key").orderBy(F.desc("written_at"))
    in_order = Window.partitionBy("dataset_key").orderBy("written_at")
    since = as_of - timedelta(days=HISTORY_DAYS)
    meant_for = F.coalesce(F.col("nominal_start_at"), partition_day(F.col("partition")))
    # Writes at one instant are one delivery.
    distinct = (
        writes.where((F.col("written_at") > F.lit(since)) & (F.col("written_at") <= F.lit(as_of)))
        .groupBy("dataset_key", "written_at")
        .agg(F.max(meant_for).alias("meant_for"), F.max("is_streaming").alias("is_streaming"))
        .select("*", F.row_number().over(newest).alias("number"))
        .where(F.col("number") <= MAX_GAPS + 1)
        .select("*", F.lag("written_at").over(in_order).alias("previous"))
    )
    ours = our_gaps.agg(F.collect_list(F.struct("started_at", "ended_at")).alias("ours"))
    teaches = ~F.exists("ours", _overlaps)
    fact = F.struct(
        F.unix_micros("written_at").alias("at"),
        F.unix_micros("meant_for").alias("meant_for"),
        "is_streaming",
        teaches.alias("teaches"),
    )
    gathered = distinct.crossJoin(F.broadcast(ours)).groupBy("dataset_key")
    return gathered.agg(F.array_sort(F.collect_list(fact)).alias("facts")).select(
        "dataset_key", *(F.col(f"facts.{name}").alias(name) for name in fact_names())
    )


def fact_names() -> tuple[str, ...]:
    """The arrays of a sequence, alike in length and order."""
    return ("at", "meant_for", "is_streaming", "teaches")


def _overlaps(gap: Column) -> Column:
    is_before = gap["started_at"] < F.col("written_at")
    return is_before & (gap["ended_at"].isNull() | (gap["ended_at"] > F.col("previous")))


def partition_day(partition: Column) -> Column:
    """The date that a partition such as `dt=2026-11-21` names; null where it names none."""
    digits = F.regexp_extract(partition, r"(\d{4})-?(\d{2})-?(\d{2})", 0)
    return F.try_to_timestamp(F.regexp_replace(digits, "-", ""), F.lit("yyyyMMdd"))


def _profile(row, time_zone: str) -> dict[str, object]:  # type: ignore[no-untyped-def]  # noqa: ANN001 - a pandas tuple
    at = np.asarray(row.at, dtype=np.int64)
    is_backfill = backfills(np.array(row.meant_for, dtype=np.float64))
    at, teaches = at[~is_backfill], np.asarray(row.teaches, dtype=np.bool_)[~is_backfill]
    wall = wall_seconds(at, time_zone)
    hours = working_hours(wall)
    working = np.diff(working_seconds(wall, hours))
    gaps = trained(working[teaches[1:] & (working > 0)])
    is_streaming = bool(row.is_streaming[-1])
    return {
        "dataset_key": row.dataset_key,
        "gaps": gaps.size,
        "hours": "".join("1" if hour else "0" for hour in hours),
        "last_wall": float(wall[-1]),
        "last_micros": int(at[-1]),
        **(
            _figures(gaps, hours, is_streaming=is_streaming)
            if gaps.size
            else _nothing(is_streaming)
        ),
    }


def backfills(meant_for: Floats) -> Hours:
    """Which writes are for a time more than one cadence older than the newest already written.

    Args:
        meant_for: microseconds, in the order of the writes; NaN where a write does not say.
    """
    known = np.where(np.isnan(meant_for), -np.inf, meant_for)
    newest = np.concatenate(([-np.inf], np.maximum.accumulate(known)[:-1]))
    steps = np.abs(np.diff(meant_for[~np.isnan(meant_for)]))
    cadence = float(np.median(steps[steps > 0])) if (steps > 0).any() else np.inf
    return ~np.isnan(meant_for) & (meant_for < newest - cadence)


def _nothing(is_streaming: bool) -> dict[str, object]:  # noqa: FBT001 - a fact of the row
    unknown = ("expected", "spread", "largest", "cycles_per_week")
    cadence_class = STREAMING if is_streaming else EVENT_DRIVEN
    return {"cadence_class": cadence_class, "scores": [], **dict.fromkeys(unknown)}


def _figures(gaps: Floats, hours: Hours, *, is_streaming: bool) -> dict[str, object]:
    expected = float(np.median(gaps))
    spread = max(mad(gaps, expected), _LEAST_SPREAD * expected, 1.0)
    working_week = _WEEK_SECONDS * float(hours.sum()) / WEEK_HOURS
    return {
        "cadence_class": STREAMING if is_streaming else _class(gaps, expected, spread),
        "expected": expected,
        "spread": spread,
        "largest": float(gaps.max()),
        "cycles_per_week": working_week / float(gaps.mean()),
        "scores": (gaps - expected) / spread if gaps.size >= MIN_GAPS else [],
    }


def _class(gaps: Floats, expected: float, spread: float) -> str:
    if spread <= _PERIODIC_SPREAD * expected:
        return PERIODIC
    # Many short gaps and few long ones: most of the time lies between the bursts.
    return BURSTY if expected < _BURST * float(gaps.mean()) else EVENT_DRIVEN
