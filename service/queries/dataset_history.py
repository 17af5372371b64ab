"""History of a dataset: its schemas with changes, its versions, checksums and writes."""

from collections.abc import Sequence

import msgspec

from lineage.catalog.queries import NEWEST_WRITE_FIRST, sql_hour_of
from lineage.catalog.reader import CatalogReader
from lineage.catalog.rows import Row
from service.queries.dataset_lookup import KnownDataset
from service.queries.run_shapes import IsoTime
from service.queries.schema_changes import SchemaChange, SchemaField, fields_of, schema_change
from service.queries.timestamps import iso_of

_SCHEMAS = """
SELECT schema_key, fields, first_seen_at, last_seen_at FROM schema_version
WHERE dataset_key = :key ORDER BY first_seen_at DESC, schema_key DESC LIMIT :most
"""
_CODE = """
SELECT DISTINCT schema_key, code_version FROM dataset_write
WHERE dataset_key = :key AND schema_key IS NOT NULL AND code_version IS NOT NULL ORDER BY 2
"""
_STAMPS = """
SELECT {column} AS value, first_seen_at, last_seen_at FROM {table}
WHERE dataset_key = :key ORDER BY last_seen_at DESC, {column} DESC LIMIT :most
"""
_WRITES = f"""
SELECT w.written_at, w.root_run_id, w.job_namespace, w.job_name, coalesce(w.rows,
  CASE WHEN NOT w.is_streaming THEN (SELECT max(io.evidence_rows) FROM run r
    JOIN run_io io ON io.run_key = r.run_key AND io.direction = 'write'
    JOIN dataset d ON d.dataset_key = io.dataset_key AND d.canonical_key = w.dataset_key
    WHERE r.root_run_id = w.root_run_id AND r.completed_at <= w.written_at
      AND r.completed_at >= {sql_hour_of("w.written_at")}) END) AS rows, w.partition, w.code_version
FROM dataset_write w WHERE w.dataset_key = :key
{NEWEST_WRITE_FIRST} LIMIT :most
"""  # noqa: S608 - our own columns


class SchemaSpan(msgspec.Struct, frozen=True):
    """Schema, and its change from the one before; `change` is null for the first."""

    first_seen_at: IsoTime
    last_seen_at: IsoTime
    fields: list[SchemaField]
    change: SchemaChange | None
    code_versions: list[str]  # of the writes that named it, as far as they are kept


class Stamp(msgspec.Struct, frozen=True):
    """Version or checksum that was reported, with the first and the last time."""

    value: str
    first_seen_at: IsoTime
    last_seen_at: IsoTime


class Write(msgspec.Struct, frozen=True):
    """Write by a root run of a job, with the version of its code."""

    written_at: IsoTime
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


def dataset_history(reader: CatalogReader, named: KnownDataset, *, limit: int) -> DatasetHistory:
    """Return at most `limit` of each, the newest; partial if there are more."""
    key, namespace, name = named
    values = {"key": key, "most": limit + 1}
    schemas = reader.rows(_SCHEMAS, values)
    versions = reader.rows(_STAMPS.format(table="dataset_version", column="version"), values)
    checksums = reader.rows(_STAMPS.format(table="dataset_checksum", column="checksum"), values)
    writes = reader.rows(_WRITES, values)
    more = {"schemas": schemas, "versions": versions, "checksums": checksums, "writes": writes}
    cut = [what for what, rows in more.items() if len(rows) > limit]
    reason = f"only the newest {limit} of these are shown: {', '.join(cut)}" if cut else None
    return DatasetHistory(
        dataset_namespace=namespace,
        dataset=name,
        schemas=_schemas(schemas, limit, reader.rows(_CODE, {"key": key})),
        versions=[_stamp(row) for row in versions[:limit]],
        checksums=[_stamp(row) for row in checksums[:limit]],
        writes=[_write(row) for row in writes[:limit]],
        partial=bool(cut),
        partial_reason=reason,
    )


def _schemas(rows: Sequence[Row], limit: int, written: Sequence[Row]) -> list[SchemaSpan]:
    """Return the schemas in order; the first that is shown is compared with the one before."""
    in_order = list(reversed(rows))
    spans = []
    for before, row in zip([None, *in_order], in_order, strict=False):
        fields = fields_of(row.fields)
        change = None if before is None else schema_change(fields_of(before.fields), fields)
        spans.append(
            SchemaSpan(
                first_seen_at=iso_of(row.first_seen_at),
                last_seen_at=iso_of(row.last_seen_at),
                fields=fields,
                change=change,
                code_versions=[version for key, version in written if key == row.schema_key],
            )
        )
    return spans[-limit:]


def _write(row: Row) -> Write:
    return Write(
        written_at=iso_of(row.written_at),
        root_run_id=row.root_run_id,
        job_namespace=row.job_namespace,
        job_name=row.job_name,
        rows=row.rows,
        partition=row.partition,
        code_version=row.code_version,
    )


def _stamp(row: Row) -> Stamp:
    return Stamp(row.value, iso_of(row.first_seen_at), iso_of(row.last_seen_at))
