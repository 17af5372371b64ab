"""Catalog tables: the only place where collector, pipeline and service meet.

Times are whole microseconds since 1970 UTC (`lineage.process.clock.to_micros`) in BIGINT columns:
the same number in SQLite, PostgreSQL, Arrow and Spark. The key of a dataset, job or run is a 64-bit
hash that Spark and Python compute alike (`lineage.names.keys`), so that a batch needs no look-up.
Each module names its one writing role.
"""

from lineage.catalog.tables.asked import audit, event_requeue, retirement
from lineage.catalog.tables.claims import attribute_claim, dataset_claim, dataset_producer
from lineage.catalog.tables.columns import metadata
from lineage.catalog.tables.dataset_content import (
    dataset_assertion,
    dataset_checksum,
    description,
    field_tag,
)
from lineage.catalog.tables.evaluation import (
    accuracy_stratum,
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
from lineage.catalog.tables.evidence import (
    application,
    edge_check,
    evidence_file,
    evidence_stage,
    execution,
    execution_io,
)
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
from lineage.catalog.tables.incidents import (
    digest,
    incident,
    incident_command,
    incident_escalation,
    incident_event,
    incident_impact,
    incident_member,
    received_alert,
    sli_explained,
    suppression,
)
from lineage.catalog.tables.ingestion import (
    batch,
    event,
    event_set_aside,
    pipeline_error,
    reader_cursor,
)
from lineage.catalog.tables.kubernetes import (
    kubernetes_watch,
    spark_application,
    spark_output,
    spark_pod_failure,
)
from lineage.catalog.tables.lake import lake_folder, role_epoch
from lineage.catalog.tables.leases import lease
from lineage.catalog.tables.logs import log_collector, log_position
from lineage.catalog.tables.marquez import (
    marquez_comparison,
    marquez_counter,
    marquez_missing_run,
    marquez_probe,
    marquez_pull,
    marquez_set_aside,
)
from lineage.catalog.tables.notification_state import incident_notification
from lineage.catalog.tables.notified import (
    notification,
    notification_channel,
    notification_count,
    notification_secret,
)
from lineage.catalog.tables.oracles import edge_reported, inferred_input, sql_run, sql_text
from lineage.catalog.tables.patterns import name_pattern
from lineage.catalog.tables.received import error_count, received_cursor
from lineage.catalog.tables.runs import run, run_io
from lineage.catalog.tables.served import (
    access_audit,
    access_version,
    served_bucket,
    served_count,
    served_counter,
    served_hour,
    service_cursor,
)

__all__ = [
    "access_audit",
    "access_version",
    "accuracy_stratum",
    "application",
    "attribute_claim",
    "audit",
    "batch",
    "column_edge",
    "dataset",
    "dataset_activity",
    "dataset_alias",
    "dataset_assertion",
    "dataset_checksum",
    "dataset_claim",
    "dataset_limit",
    "dataset_policy",
    "dataset_producer",
    "dataset_read",
    "dataset_state",
    "dataset_version",
    "dataset_write",
    "description",
    "digest",
    "edge",
    "edge_check",
    "edge_reported",
    "edge_run",
    "error_count",
    "evaluation",
    "event",
    "event_requeue",
    "event_set_aside",
    "evidence_file",
    "evidence_stage",
    "execution",
    "execution_io",
    "field_tag",
    "incident",
    "incident_command",
    "incident_escalation",
    "incident_event",
    "incident_impact",
    "incident_member",
    "incident_notification",
    "inferred_input",
    "ingestion_gap",
    "kubernetes_watch",
    "lag_bucket",
    "lake_folder",
    "lease",
    "log_collector",
    "log_position",
    "marquez_comparison",
    "marquez_counter",
    "marquez_missing_run",
    "marquez_probe",
    "marquez_pull",
    "marquez_set_aside",
    "meta",
    "metadata",
    "name_pattern",
    "notification",
    "notification_channel",
    "notification_count",
    "notification_secret",
    "ownership",
    "pipeline_error",
    "reader_cursor",
    "received_alert",
    "received_cursor",
    "retirement",
    "role_epoch",
    "run",
    "run_io",
    "schema_version",
    "served_bucket",
    "served_count",
    "served_counter",
    "served_hour",
    "service_cursor",
    "sli_counter",
    "sli_explained",
    "sli_hour",
    "sli_now",
    "spark_application",
    "spark_output",
    "spark_pod_failure",
    "sql_run",
    "sql_text",
    "suppression",
    "tag",
]
