"""Catalog tables: the only place where collector, pipeline and service meet.

Instants are whole microseconds since 1970 UTC (`lineage.clock.to_micros`) in BIGINT columns: the
same number in SQLite, PostgreSQL, Arrow and Spark. A dataset's, a job's and a run's key is a 64-bit
hash that Spark and Python compute alike (`lineage.keys`), so that a batch needs no look-up. Each
module names its one writing role.
"""

from lineage.catalog.tables.arrived import batch, event, pipeline_error, reader_cursor
from lineage.catalog.tables.asked import audit, retirement
from lineage.catalog.tables.columns import metadata
from lineage.catalog.tables.described import dataset_assertion, dataset_checksum
from lineage.catalog.tables.facts import (
    column_edge,
    dataset,
    dataset_activity,
    dataset_alias,
    dataset_read,
    dataset_version,
    dataset_write,
    edge,
    edge_run,
    ingestion_gap,
    ownership,
    schema_version,
    tag,
)
from lineage.catalog.tables.found import (
    dataset_limit,
    dataset_policy,
    dataset_state,
    evaluation,
    lag_bucket,
    meta,
    sli_counter,
    sli_hour,
    sli_now,
)
from lineage.catalog.tables.runs import run, run_io

__all__ = [
    "audit",
    "batch",
    "column_edge",
    "dataset",
    "dataset_activity",
    "dataset_alias",
    "dataset_assertion",
    "dataset_checksum",
    "dataset_limit",
    "dataset_policy",
    "dataset_read",
    "dataset_state",
    "dataset_version",
    "dataset_write",
    "edge",
    "edge_run",
    "evaluation",
    "event",
    "ingestion_gap",
    "lag_bucket",
    "meta",
    "metadata",
    "ownership",
    "pipeline_error",
    "reader_cursor",
    "retirement",
    "run",
    "run_io",
    "schema_version",
    "sli_counter",
    "sli_hour",
    "sli_now",
    "tag",
]
