"""Frames of a few rows for the SLI tests: a row names only what differs from most rows."""

from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from slis.evaluation.sli_schemas import (
    ACTIVITY,
    DATASETS,
    EDGES,
    EVENTS,
    FAILURES,
    GAPS,
    INSTANTS,
    READS,
    WRITES,
)
from slis.spark.planning import local_rows

DAY_ZERO = datetime(2026, 11, 1, tzinfo=UTC)
_DATASET = {
    "namespace": "shop",
    "first_seen_at": DAY_ZERO,
    "tier": "critical",
    "tier_origin": "declared",
    "is_source": False,
    "is_generated": False,
    "is_streaming": False,
    "is_declared": False,
    "is_expected": True,
}
_WRITE = {
    "job_namespace": "jobs",
    "job_name": "job",
    "names_input": True,
    "is_reported": True,
    "is_streaming": False,
    "is_history": False,
}


def day(number: float, hour: float = 0, minute: float = 0) -> datetime:
    """Return that hour of the day so many days after 1 November 2026."""
    return DAY_ZERO + timedelta(days=number, hours=hour, minutes=minute)


def naive(instant: datetime) -> datetime:
    """Convert a time to its form in Spark's rows, in a session in UTC."""
    return instant.astimezone(UTC).replace(tzinfo=None)


def frame(spark: SparkSession, schema: str, rows: list[dict[str, Any]]) -> DataFrame:
    """Return a frame of the schema; a column that a row does not name is null."""
    names = StructType.fromDDL(schema).names
    return local_rows(spark, [[row.get(name) for name in names] for row in rows], schema)


def instants(spark: SparkSession, *times: datetime) -> DataFrame:
    """Return the times at which to judge."""
    return frame(spark, INSTANTS, [{"as_of": time} for time in times])


def datasets(spark: SparkSession, *rows: dict[str, Any]) -> DataFrame:
    """Return critical datasets, seen since day zero, without further facts."""
    return frame(
        spark, DATASETS, [{**_DATASET, "name": f"d.t{row['dataset_key']}", **row} for row in rows]
    )


def writes(spark: SparkSession, *rows: dict[str, Any]) -> DataFrame:
    """Return reported batch writes that name an input and landed at once."""
    return frame(spark, WRITES, [_write(row) for row in rows])


def _write(row: dict[str, Any]) -> dict[str, Any]:
    run = f"run-{row['dataset_key']}-{row['written_at']:%dT%H%M%S}"
    return {**_WRITE, "landed_at": row["written_at"], "root_run_id": run, **row}


def reads(spark: SparkSession, *rows: dict[str, Any]) -> DataFrame:
    """Return reported reads that landed at once."""
    base = {"bucket": 0, "is_reported": True, "is_history": False}
    named = [
        {**base, "landed_at": row["read_at"], "root_run_id": f"r{row['read_at']:%dT%H%M}", **row}
        for row in rows
    ]
    return frame(spark, READS, named)


def activity(spark: SparkSession, *rows: dict[str, Any]) -> DataFrame:
    """Return facts as the catalog stores them, one row per dataset."""
    named = []
    for row in rows:
        write = row.get("write")
        full = None if write is None else _write({"dataset_key": row["dataset_key"], **write})
        named.append({"visible_at": DAY_ZERO, **row, "write": full})
    return frame(spark, ACTIVITY, named)


def edges(spark: SparkSession, *pairs: tuple[int, int]) -> DataFrame:
    """Return edges of (upstream, downstream)."""
    return frame(spark, EDGES, [{"upstream_key": a, "downstream_key": b} for a, b in pairs])


def gaps(spark: SparkSession, *rows: tuple[str, datetime, datetime | None]) -> DataFrame:
    """Return gaps of (kind, start, end)."""
    named = [dict(zip(("kind", "started_at", "ended_at"), row, strict=True)) for row in rows]
    return frame(spark, GAPS, named)


def failures(spark: SparkSession, *rows: tuple[int, datetime]) -> DataFrame:
    """Return failed runs of (dataset key, time)."""
    named = [dict(zip(("dataset_key", "failed_at"), row, strict=True)) for row in rows]
    return frame(spark, FAILURES, named)


def events(spark: SparkSession, *rows: dict[str, Any]) -> DataFrame:
    """Return live batch events of correct clocks."""
    base = {"is_streaming": False, "is_history": False, "is_skewed": False}
    return frame(spark, EVENTS, [{**base, **row} for row in rows])
