"""Cadences: when the next write is due, by the gaps between a dataset's writes."""

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lineage.graph.adjacency import Flags
from lineage.process.clock import to_micros
from lineage.sli_limits import SLOW_HISTORY_DAYS
from slis.cadence.known_writes import MAX_WRITES, KnownWrites, is_any_between
from slis.cadence.profile import FAILED_CADENCE, Cadence, cadence_of, last_delivery
from slis.cadence.training import Places
from slis.cadence.working_time import WorkingTime
from slis.cadence.working_week import Floats, Hours, Micros, wall_seconds

# What one dataset's gaps show as of an instant (microseconds): the figures of
# `profile.Cadence`, the 168 hours of the week that count, 1 or 0, from when on the next
# write is owed, and the newest write: the same, unless that is in a planned window. `problem`: why
# our own code could not learn from the writes.
PROFILES = """
    as_of bigint, dataset_key bigint, plan string, cadence_class string, gaps int,
    usual_gap double, spread double, level double, scale double, share double, largest double,
    cycles_per_week double, cycle_seconds double, phase double, scores array<double>,
    recurring double,
    hours string, last_micros bigint, newest_micros bigint, problem string
"""
WorkingTimes = Mapping[str | None, WorkingTime]


def profiles(
    writes: DataFrame,
    our_gaps: DataFrame,
    failures: DataFrame | None = None,
    *,
    instants: Sequence[datetime],
    times: WorkingTimes,
) -> DataFrame:
    """Return `PROFILES` of each dataset with a write in the 180 days before an instant.

    Args:
        writes: `sli_schemas.WRITES`; a column `plan`, where there is one, names a working time.
        our_gaps: `sli_schemas.GAPS`.
        failures: `sli_schemas.FAILURES`; None: no run failed.
        instants: one in production. What came after each is not known to it.
        times: by plan; None is of those without.
    """
    gathered = _with_failures(_sequences(writes, our_gaps, min(instants), max(instants)), failures)
    micros = sorted(to_micros(instant) for instant in instants)
    return _profiled(gathered, lambda _: micros, times)


def profiles_after_writes(
    writes: DataFrame,
    our_gaps: DataFrame,
    *,
    span: tuple[datetime, datetime],
    instants_of: Callable[[Places], list[int]],
    times: WorkingTimes,
) -> DataFrame:
    """Return `PROFILES` of each dataset as of instants of its own, for a replay.

    Args:
        writes: as of `profiles`.
        our_gaps: as of `profiles`.
        span: of the writes.
        instants_of: takes the times of a dataset's writes, in microseconds, in order.
        times: as of `profiles`.
    """
    gathered = _with_failures(_sequences(writes, our_gaps, *span), None)
    return _profiled(gathered, instants_of, times)


def _profiled(
    gathered: DataFrame, instants_of: Callable[[Places], list[int]], times: WorkingTimes
) -> DataFrame:
    def profile(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            rows = [
                one
                for row in batch.itertuples()
                for one in _contained(row, instants_of(np.asarray(row.at, dtype=np.int64)), times)
            ]
            # Whole numbers that may be null stay whole numbers.
            yield pd.DataFrame(rows, columns=_COLUMNS, dtype=object)

    return gathered.mapInPandas(profile, PROFILES)


_COLUMNS = [part.split()[0] for part in PROFILES.split(",")]


def _sequences(
    writes: DataFrame, our_gaps: DataFrame, first: datetime, last: datetime
) -> DataFrame:
    """Return the writes of each dataset in order, from the newest of the first instant on.

    And which of the gaps before them may teach.
    """
    is_old = F.col("written_at") <= F.lit(first)
    newest = Window.partitionBy("dataset_key", is_old).orderBy(F.desc("written_at"))
    in_order = Window.partitionBy("dataset_key").orderBy("written_at")
    since = first - timedelta(days=SLOW_HISTORY_DAYS)
    meant_for = F.coalesce(F.col("nominal_start_at"), partition_day(F.col("partition")))
    plan = F.col("plan") if "plan" in writes.columns else F.lit(None).cast("string")
    # A hash: half a million texts of runs would take as long as all else that is read of them.
    is_known = F.col("root_run_id") != ""
    root_run = F.when(is_known, F.xxhash64("root_run_id")).otherwise(F.lit(0))
    # Writes at one instant are one delivery.
    distinct = (
        writes.where((F.col("written_at") > F.lit(since)) & (F.col("written_at") <= F.lit(last)))
        .groupBy("dataset_key", "written_at")
        .agg(
            F.max(meant_for).alias("meant_for"),
            F.max("is_streaming").alias("is_streaming"),
            F.max(root_run).alias("root_run"),
            F.max(plan).alias("plan"),
        )
        .select("*", F.row_number().over(newest).alias("number"))
        .where((F.col("number") <= MAX_WRITES) | ~is_old)
        .select("*", F.lag("written_at").over(in_order).alias("previous"))
    )
    ours = our_gaps.agg(F.collect_list(F.struct("started_at", "ended_at")).alias("ours"))
    fact = F.struct(
        F.unix_micros("written_at").alias("at"),
        F.unix_micros("meant_for").alias("meant_for"),
        "is_streaming",
        "root_run",
        (~F.exists("ours", _overlaps)).alias("teaches"),
    )
    gathered = distinct.crossJoin(F.broadcast(ours)).groupBy("dataset_key")
    arrays = ("at", "meant_for", "is_streaming", "root_run", "teaches")
    return gathered.agg(
        F.array_sort(F.collect_list(fact)).alias("facts"), F.max("plan").alias("plan")
    ).select("dataset_key", "plan", *(F.col(f"facts.{name}").alias(name) for name in arrays))


def _with_failures(sequences: DataFrame, failures: DataFrame | None) -> DataFrame:
    """Add a column `failed_at`: when runs that were to write the dataset failed, in order."""
    if failures is None:
        return sequences.withColumn("failed_at", F.array().cast("array<bigint>"))
    at = F.sort_array(F.collect_list(F.unix_micros("failed_at"))).alias("failed_at")
    failed = failures.groupBy("dataset_key").agg(at)
    return sequences.join(failed, "dataset_key", "left").withColumn(
        "failed_at", F.coalesce("failed_at", F.array().cast("array<bigint>"))
    )


def _overlaps(gap: Column) -> Column:
    is_before = gap["started_at"] < F.col("written_at")
    return is_before & (gap["ended_at"].isNull() | (gap["ended_at"] > F.col("previous")))


def partition_day(partition: Column) -> Column:
    """Return the date in a partition such as `dt=2026-11-21`; null where it names none."""
    digits = F.regexp_extract(partition, r"(\d{4})-?(\d{2})-?(\d{2})", 0)
    return F.try_to_timestamp(F.regexp_replace(digits, "-", ""), F.lit("yyyyMMdd"))


def _contained(  # type: ignore[no-untyped-def]
    row,  # noqa: ANN001 - a pandas tuple
    instants: list[int],
    times: WorkingTimes,
) -> list[dict[str, object]]:
    """Return the profiles of one sequence, or rows with the problem that it met."""
    try:
        return list(_profiles(row, instants, times))
    except Exception as error:  # noqa: BLE001 - a fault of one dataset must not stop the others
        no_gaps = {
            "dataset_key": row.dataset_key,
            "cadence_class": FAILED_CADENCE,
            "gaps": 0,
            "scores": (),
        }
        failed = {**dict.fromkeys(_COLUMNS), **no_gaps, "problem": error_summary(error)}
        return [{**failed, "as_of": at} for at in instants]


def error_summary(error: Exception) -> str:
    """Return the kind of an error and the line that raised it, without any value of the data."""
    raised = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(raised.filename).name}, line {raised.lineno}"


def _profiles(  # type: ignore[no-untyped-def]
    row,  # noqa: ANN001 - a pandas tuple
    instants: list[int],
    times: WorkingTimes,
) -> Iterator[dict[str, object]]:
    """Yield the profile of one sequence, as of each instant that has a write before it."""
    at = np.asarray(row.at, dtype=np.int64)
    plan = row.plan if isinstance(row.plan, str) else None
    time = times.get(plan, times[None])
    meant_for = np.array(row.meant_for, dtype=np.float64)
    counts = ~backfills(meant_for, at)
    fresh = at[counts]
    # A planned reload is one too, though its write is visible.
    counts &= ~time.in_window(at)
    root_run = np.asarray(row.root_run, dtype=np.int64)[counts]
    at, teaches = at[counts], np.asarray(row.teaches, dtype=np.bool_)[counts]
    teaches &= ~time.spans_window(at)
    has_failed = is_any_between(np.asarray(row.failed_at, dtype=np.int64), at)
    wall = wall_seconds(at, time.time_zone)
    writes = KnownWrites(
        at, root_run, meant_for[counts], wall, teaches, has_failed, bool(row.is_streaming[-1])
    )
    for as_of in instants:
        known = writes.until(as_of)
        if known.written_at.size:
            newest = int(fresh[np.searchsorted(fresh, as_of, side="right") - 1])
            key = {"as_of": as_of, "dataset_key": row.dataset_key, "plan": plan}
            yield {**key, **_figures(known.deliveries(), newest, time)}


def _figures(known: KnownWrites, newest: int, time: WorkingTime) -> dict[str, object]:
    """Return the fields of a profile, by the writes up to the newest one."""
    hours = time.hours(known.wall)
    working = time.working(known.wall, hours)
    cadence = cadence_of(
        working,
        known.teaches,
        hours,
        has_failed=known.has_failed,
        is_streaming=known.is_streaming,
    )
    # A write in a planned window is newer than all that count; it stands for the window's end.
    from_then = int(time.out_of_windows(np.array([newest]))[0])
    # A rerun in a served cycle puts nothing off.
    if from_then == newest and cadence.cycle_seconds is not None:
        from_then = int(known.written_at[last_delivery(working, cadence)])
    return {**_fields(cadence, hours), "last_micros": from_then, "newest_micros": newest}


def _fields(cadence: Cadence, hours: Hours) -> dict[str, object]:
    text = "".join("1" if hour else "0" for hour in hours)
    return {**msgspec.structs.asdict(cadence), "hours": text}


def hours_of(text: str) -> Hours:
    """Return the hours of the week that a profile names."""
    hours: Hours = np.frombuffer(text.encode(), dtype=np.uint8) == ord("1")
    return hours


def backfills(meant_for: Floats, at: Micros) -> Flags:
    """Return which writes are meant for a time over one cadence before the newest one.

    Args:
        meant_for: microseconds, in the order of the writes; NaN where a write does not say.
        at: time of each write in microseconds; a later nominal time counts as this one.
    """
    known = np.where(np.isnan(meant_for), -np.inf, np.minimum(meant_for, at))
    newest = np.concatenate(([-np.inf], np.maximum.accumulate(known)[:-1]))
    steps = np.abs(np.diff(meant_for[~np.isnan(meant_for)]))
    cadence = float(np.median(steps[steps > 0])) if (steps > 0).any() else np.inf
    return ~np.isnan(meant_for) & (meant_for < newest - cadence)
