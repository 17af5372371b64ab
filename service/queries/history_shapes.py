"""The documented shape of a dataset's life: its schemas, versions, checksums and writes."""

import msgspec

from service.queries.run_shapes import Instant
from service.queries.schema_changes import Field, SchemaChange


class SchemaSpan(msgspec.Struct, frozen=True):
    """A schema, and what it changed of the one before; `change` is null for the first."""

    first_seen_at: Instant
    last_seen_at: Instant
    fields: list[Field]
    change: SchemaChange | None
    code_versions: list[str]  # of the writes that named it, as far as they are kept


class Stamp(msgspec.Struct, frozen=True):
    """A version or a checksum that was named, and from when to when."""

    value: str
    first_seen_at: Instant
    last_seen_at: Instant


class Write(msgspec.Struct, frozen=True):
    """A write: by which root run of which job, in which version of its code."""

    written_at: Instant
    root_run_id: str
    job_namespace: str
    job_name: str
    rows: int | None
    partition: str | None
    code_version: str | None


class History(msgspec.Struct, frozen=True):
    """What is known of a dataset's life; of each the newest first, but schemas in their order."""

    dataset_namespace: str
    dataset: str
    schemas: list[SchemaSpan]
    versions: list[Stamp]
    checksums: list[Stamp]
    writes: list[Write]
    partial: bool
    partial_reason: str | None
