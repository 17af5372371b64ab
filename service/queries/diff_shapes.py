"""Documented shapes of the differences between two runs."""

import msgspec

from service.queries.run_shapes import Instant
from service.queries.schema_changes import SchemaChange


class ComparedRun(msgspec.Struct, frozen=True):
    """Run that is compared; a root run with all its children."""

    run_id: str
    job_namespace: str
    job_name: str
    status: str
    started_at: Instant | None
    finished_at: Instant | None
    duration_seconds: float | None
    error_message: str | None
    runs: int  # it and its children


class Change(msgspec.Struct, frozen=True):
    """Difference of one value; null where a run did not report it."""

    what: str
    first: str | None
    second: str | None


class DatasetDiff(msgspec.Struct, frozen=True):
    """Dataset that the runs did not touch alike."""

    dataset_namespace: str
    dataset: str
    direction: str  # read | write
    only_in: str | None  # first | second; null: both touched it
    changes: list[Change]  # version, checksum, partition, rows, bytes
    schema: SchemaChange | None


class RunDiff(msgspec.Struct, frozen=True):
    """Differences between two runs; `same`: they reported none."""

    first: ComparedRun
    second: ComparedRun
    same: bool
    changes: list[Change]
    datasets: list[DatasetDiff]
    partial: bool
    partial_reason: str | None
