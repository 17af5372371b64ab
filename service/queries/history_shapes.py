"""Documented shapes of a dataset's history: schemas, versions, checksums and writes."""

import msgspec

from service.queries.run_shapes import Instant
from service.queries.schema_changes import SchemaChange, SchemaField


class SchemaSpan(msgspec.Struct, frozen=True):
    """Schema, and its change from the one before; `change` is null for the first."""

    first_seen_at: Instant
    last_seen_at: Instant
    fields: list[SchemaField]
    change: SchemaChange | None
    code_versions: list[str]  # of the writes that named it, as far as they are kept


class Stamp(msgspec.Struct, frozen=True):
    """Version or checksum that was reported, with the first and the last time."""

    value: str
    first_seen_at: Instant
    last_seen_at: Instant


class Write(msgspec.Struct, frozen=True):
    """Write by a root run of a job, with the version of its code."""

    written_at: Instant
    root_run_id: str
    job_namespace: str
    job_name: str
    rows: int | None
    partition: str | None
    code_version: str | None


class DatasetHistory(msgspec.Struct, frozen=True):
    """History of a dataset, newest first; schemas in their order."""

    dataset_namespace: str
    dataset: str
    schemas: list[SchemaSpan]
    versions: list[Stamp]
    checksums: list[Stamp]
    writes: list[Write]
    partial: bool
    partial_reason: str | None
