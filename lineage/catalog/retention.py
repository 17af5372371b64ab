"""Retention of each catalog table: one rule or one bound a table, all in this module.

A condition may use times in µs: `:before`, so many days before now, and `:ahead`, a day after
now. Rows of a later time were written by a clock that was ahead. A table with ranges keeps whole
ranges: its `:before` is the start of one, on each database, and `:until` is not.
"""

from typing import Final, Literal

import msgspec

from lineage.names.names import FOLD
from lineage.process.clock import DAY_MICROS
from lineage.sli_limits import HISTORY_DAYS, SLOW_CADENCE_SECONDS, SLOW_HISTORY_DAYS

_Days = Literal["event_days", "write_days", "audit_days", "history_days", "access_days"]
RetentionRole = Literal["pipeline", "service"]


class Ranges(msgspec.Struct, frozen=True):
    """Ranges of time of which a table keeps or deletes whole ones: in PostgreSQL, its partitions.

    Attributes:
        column: of the primary key, in microseconds.
        days: of a range.
        undated: value of the column in rows without a time: their partition is never dropped, and
            loses its rows one by one.
        may_stay: in SQL, the rows of a range `{part}` that the rule may keep when the range is
            over; None: it keeps none.
    """

    column: str
    days: int
    may_stay: str | None = None
    undated: int | None = None

    @property
    def micros(self) -> int:
        """Length of a range."""
        return self.days * DAY_MICROS

    def start_of(self, at: int) -> int:
        """Return the start of the range that a time lies in."""
        return at // self.micros * self.micros


class RetentionRule(msgspec.Struct, frozen=True):
    """Rows of a table that retention deletes.

    Attributes:
        days: how many days before now `:before` is, or the setting that says so.
        condition: in SQL, of a row that is deleted.
        role: whose hourly retention deletes them; not always the writer of the table.
        ranges: of the table, where it has any; then `:before` is the start of one.
    """

    days: _Days | int
    condition: str
    role: RetentionRole = "pipeline"
    ranges: Ranges | None = None

    def before(self, at: int) -> int:
        """Return `:before`, where the rule's days before now are `at`."""
        return at if self.ranges is None else self.ranges.start_of(at)


def _without(parent: str, key: str, table: str) -> str:
    return f"NOT EXISTS (SELECT 1 FROM {parent} p WHERE p.{key} = {table}.{key})"  # noqa: S608 - our own names


def _of_gone(table: str) -> str:
    return _without("dataset", "dataset_key", table)


_SEEN: Final = "last_seen_at < :before"
_UNDECLARED: Final = """
    NOT EXISTS (SELECT 1 FROM dataset_policy p
        WHERE p.dataset_key = {table}.{key} AND p.is_declared)
"""
_ENDS_GONE: Final = """
    NOT EXISTS (SELECT 1 FROM dataset p WHERE p.dataset_key = {table}.upstream_key)
    OR NOT EXISTS (SELECT 1 FROM dataset p WHERE p.dataset_key = {table}.downstream_key)
"""
# A name and all that are known under it; what an open incident or the policy needs stays.
_UNSEEN_DATASET: Final = """
    last_seen_at < :before
    AND NOT EXISTS (SELECT 1 FROM dataset m
        WHERE m.canonical_key = dataset.canonical_key AND m.last_seen_at >= :before)
    AND NOT EXISTS (SELECT 1 FROM dataset_policy p
        WHERE p.dataset_key = dataset.canonical_key AND p.is_declared)
    AND NOT EXISTS (SELECT 1 FROM incident_member m JOIN incident i
        ON i.incident_id = m.incident_id AND i.is_remembered
        WHERE m.dataset_key = dataset.canonical_key)
    AND NOT EXISTS (SELECT 1 FROM incident_impact m JOIN incident i
        ON i.incident_id = m.incident_id AND i.is_remembered
        WHERE m.dataset_key = dataset.canonical_key)
"""
# A table that was written once, years ago, is read today: its reads have an origin. A monthly one's
# schedule is learned from two years: of half a year it has six writes.
_SLOWER_MICROS = (SLOW_HISTORY_DAYS - HISTORY_DAYS) * DAY_MICROS
_LATER_WRITE: Final = """
    written_at < :before AND bucket < :before
    AND (written_at > (SELECT min(w.written_at) FROM dataset_write w
        WHERE w.dataset_key = dataset_write.dataset_key)
    AND NOT (written_at >= :before - {slower_micros} AND EXISTS (SELECT 1 FROM dataset_limit l
        WHERE l.dataset_key = dataset_write.dataset_key AND l.cadence_seconds >= {slow_seconds}))
    OR {gone})
"""
# Those that `_LATER_WRITE` spares, found without a look-up for each row.
_FIRST_OR_SLOW: Final = f"""
    SELECT w.* FROM {{part}} w
    JOIN (SELECT dataset_key, min(written_at) AS first_at FROM {{part}} GROUP BY dataset_key) f
        ON f.dataset_key = w.dataset_key
    WHERE w.written_at <= f.first_at OR w.dataset_key IN (
        SELECT dataset_key FROM dataset_limit WHERE cadence_seconds >= {SLOW_CADENCE_SECONDS})
"""  # noqa: S608 - our own names
_NEWEST_SCHEMA: Final = """
    last_seen_at < (SELECT max(s.last_seen_at) FROM schema_version s
        WHERE s.dataset_key = schema_version.dataset_key)
"""
_ENDED_INCIDENT: Final = """
    state = 'resolved' AND NOT is_remembered AND coalesce(resolved_at, seen_at) < :before
"""
_LONG_RESOLVED: Final = """
    NOT EXISTS (SELECT 1 FROM incident i WHERE i.incident_id = incident_impact.incident_id
        AND (i.resolved_at IS NULL OR i.is_remembered OR i.resolved_at >= :before))
"""
# While an owner is stored, so is who reported it: else what only others report would take effect.
_CLAIMS_NO_OWNER: Final = """
    last_landed_at < :before AND NOT EXISTS (SELECT 1 FROM ownership o
        WHERE o.subject_key = attribute_claim.dataset_key AND o.owner = attribute_claim.value)
"""


def _long_unseen(table: str, key: str) -> str:
    declared = _UNDECLARED.format(table=table, key=key)
    return f"last_seen_at < :before AND {declared}"


# The day in an id may be older than the events: Airflow makes ids by the logical date.
_LAST_EVENT: Final = "last_event_at < :until AND (day < :before OR day > :ahead)"
_OF_RUNS: Final = Ranges(
    "day",
    days=30,
    may_stay="SELECT * FROM {part} WHERE last_event_at >= :until",
    undated=0,
)

# In this order: what refers to a row is deleted after it.
RETENTION_RULES: Final[dict[str, RetentionRule]] = {
    "event": RetentionRule(
        "event_days",
        "event_time < :before OR event_time > :ahead",
        ranges=Ranges("event_time", days=1),
    ),
    "pipeline_error": RetentionRule("event_days", "landed_at < :before"),
    # The lake has their bodies for as long by default.
    "event_set_aside": RetentionRule(90, "failed_at < :before"),
    "event_requeue": RetentionRule(90, "requested_at < :before"),
    "collector_removal": RetentionRule(90, "requested_at < :before"),
    "edge_told": RetentionRule("event_days", "seen_at < :before"),  # of a run that never wrote
    "sql_run": RetentionRule("event_days", "seen_at < :before"),  # of a run that never ended
    # A repeat of a batch behind the cursor is known by its row.
    "batch": RetentionRule(
        "write_days",
        "landed_at < :before AND last_seq < (SELECT seq FROM reader_cursor"
        " WHERE reader = 'pipeline')",
    ),
    "dataset": RetentionRule("write_days", _UNSEEN_DATASET),
    "dataset_write": RetentionRule(
        "write_days",
        _LATER_WRITE.format(
            gone=_of_gone("dataset_write"),
            slow_seconds=SLOW_CADENCE_SECONDS,
            slower_micros=_SLOWER_MICROS,
        ),
        # A look-up by dataset goes into each range: with 180, a merge takes 2.7 times as long.
        ranges=Ranges("bucket", days=30, may_stay=_FIRST_OR_SLOW),
    ),
    "dataset_read": RetentionRule(
        "write_days",
        f"read_at < :before AND (counted_at IS NOT NULL OR {_of_gone('dataset_read')})",
    ),
    "dataset_activity": RetentionRule("write_days", _of_gone("dataset_activity")),
    "dataset_limit": RetentionRule("write_days", _of_gone("dataset_limit")),
    # Names that the policy folds are endless; those that were datasets once are links as well.
    "dataset_alias": RetentionRule(
        "write_days", f"last_seen_at < :before AND (rule = '{FOLD}' OR {_of_gone('dataset_alias')})"
    ),
    "dataset_producer": RetentionRule("write_days", _of_gone("dataset_producer")),
    # A claim holds, or is rejected, for as long as the dataset that it is about is known.
    "dataset_claim": RetentionRule(
        "write_days", f"last_seen_at < :before AND {_of_gone('dataset_claim')}"
    ),
    "dataset_version": RetentionRule("write_days", _SEEN),
    "dataset_checksum": RetentionRule("write_days", _SEEN),
    "dataset_assertion": RetentionRule(
        "write_days",
        "coalesce(last_failed_at, 0) < :before AND coalesce(last_passed_at, 0) < :before",
    ),
    "run": RetentionRule("write_days", _LAST_EVENT, ranges=_OF_RUNS),
    "run_io": RetentionRule("write_days", _LAST_EVENT, ranges=_OF_RUNS),
    "inferred_input": RetentionRule("write_days", "seen_at < :before"),
    "edge_run": RetentionRule("write_days", "seen_at < :before"),
    "sql_text": RetentionRule("write_days", "last_seen_at < :before"),
    # A file that is written to again is read again, and says the same.
    "execution_io": RetentionRule(
        "write_days",
        "execution_key IN (SELECT execution_key FROM execution WHERE started_at < :before"
        " UNION SELECT stream_key FROM execution WHERE started_at < :before)",
    ),
    "execution": RetentionRule("write_days", "started_at < :before"),
    "evidence_stage": RetentionRule("write_days", "at < :before"),
    # A streaming application may run for years: its newest runs and executions are kept.
    "application": RetentionRule(
        "write_days",
        "coalesce(ended_at, started_at) < :before"
        f" AND {_without('run', 'application_id', 'application')}"
        f" AND {_without('execution', 'application_id', 'application')}",
    ),
    "evidence_file": RetentionRule("write_days", "modified_at < :before"),
    "edge_check": RetentionRule("write_days", "checked_at < :before"),
    "spark_application": RetentionRule("write_days", "seen_at < :before"),
    "spark_output": RetentionRule(
        "write_days", _without("spark_application", "uid", "spark_output")
    ),
    "spark_pod_failure": RetentionRule(30, "failed_at < :before"),
    "ingestion_gap": RetentionRule("write_days", "ended_at < :before"),
    "edge": RetentionRule(
        "history_days", f"last_seen_at < :before OR {_ENDS_GONE.format(table='edge')}"
    ),
    "column_edge": RetentionRule(
        "history_days", f"last_seen_at < :before OR {_ENDS_GONE.format(table='column_edge')}"
    ),
    "schema_version": RetentionRule(
        "history_days",
        f"{_of_gone('schema_version')} OR (last_seen_at < :before AND {_NEWEST_SCHEMA})",
    ),
    "ownership": RetentionRule("history_days", _long_unseen("ownership", "subject_key")),
    "tag": RetentionRule("history_days", _long_unseen("tag", "dataset_key")),
    "field_tag": RetentionRule("history_days", _long_unseen("field_tag", "dataset_key")),
    "description": RetentionRule("history_days", _long_unseen("description", "subject_key")),
    "attribute_claim": RetentionRule("history_days", _CLAIMS_NO_OWNER),
    # The first says since when SLIs are watched, the last what was counted.
    "evaluation": RetentionRule(
        "event_days",
        "as_of < :before AND as_of > (SELECT min(as_of) FROM evaluation)"
        " AND as_of < (SELECT max(as_of) FROM evaluation)",
    ),
    "sli_hour": RetentionRule("history_days", "hour < :before"),
    # The newest stays: of an empty table SQLite would give the numbers once more.
    "audit": RetentionRule("audit_days", "at < :before AND id < (SELECT max(id) FROM audit)"),
    "served_hour": RetentionRule("history_days", "hour < :before", "service"),
    "suppression": RetentionRule(
        "history_days", "coalesce(ended_at, until_at) < :before", "service"
    ),
    # One that names a dataset which is gone, or was seen again, has no effect.
    "retirement": RetentionRule(
        "history_days",
        "requested_at < :before AND NOT EXISTS (SELECT 1 FROM dataset d"
        " WHERE d.dataset_key = retirement.dataset_key AND d.last_seen_at <= requested_at)",
        "service",
    ),
    "incident_impact": RetentionRule(90, _LONG_RESOLVED, "service"),
    "incident": RetentionRule("history_days", _ENDED_INCIDENT, "service"),
    **{
        table: RetentionRule("history_days", _without("incident", "incident_id", table), "service")
        for table in ("incident_event", "incident_member", "incident_escalation")
    },
    "incident_command": RetentionRule("history_days", "done_at < :before", "service"),
    # The version that was in force at `:before` judges rows of the audit log that are kept.
    "access_version": RetentionRule(
        "access_days",
        "in_force_from < (SELECT max(v.in_force_from) FROM access_version v"
        " WHERE v.in_force_from < :before)",
        "service",
    ),
    # An alert that fires is repeated within hours: of a lost one the end never comes.
    "received_alert": RetentionRule(
        90, "received_at < :before AND coalesce(ends_at, received_at) < :before", "service"
    ),
}

# The tables that PostgreSQL keeps in partitions.
RANGES: Final[dict[str, Ranges]] = {
    table: rule.ranges for table, rule in RETENTION_RULES.items() if rule.ranges is not None
}

# What bounds the tables that no rule is for.
BOUNDS: Final[dict[str, str]] = {
    "access_audit": "service.api.access: LINEWARD_ACCESS_AUDIT_DAYS, and 100,000 denials",
    "accuracy_stratum": "replaced by each evaluation of edges",
    "dataset_change": "emptied by each evaluation: one row a dataset",
    "dataset_judgement": "one row a dataset that is not retired",
    "dataset_policy": "one row a dataset that is not retired",
    "dataset_state": "one row an SLI of such a dataset",
    "digest": "alerts.notify.state_store: LINEWARD_ALERTS_KEEP_DAYS",
    "error_count": "one row a cause, of a fixed set",
    "incident_telling": "alerts.notify.state_store: LINEWARD_ALERTS_KEEP_DAYS after the end",
    "kubernetes_watch": "one row a resource and namespace that is watched",
    "lag_bucket": "one row a bucket",
    "lease": "one row a name, of a fixed set",
    "lake_folder": "slis.lake.retention: the policy's `retention_days`, and compaction",
    "log_collector": "one row a collector: `slis/stream/kafka` deletes what ended or was removed",
    "log_position": "one row a partition of the topic",
    "marquez_comparison": "service.ingest.marquez.store: 7 days",
    "marquez_counter": "one row a counter",
    "marquez_missing_run": "replaced by each comparison",
    "marquez_probe": "service.ingest.marquez.store: 7 days",
    "marquez_pull": "one row a Marquez",
    "marquez_set_aside": "service.ingest.marquez.store: the newest 1,000",
    "meta": "one row a name, of a fixed set",
    "name_pattern": "replaced by each evaluation",
    "notification": "alerts.notify.outbox: LINEWARD_ALERTS_KEEP_DAYS after the end",
    "notification_channel": "one row a channel of the policy",
    "notification_secret": "one row a channel of the policy",
    "notification_count": "one row a channel and kind",
    "reader_cursor": "one row a reader",
    "received_cursor": "one row a source",
    "role_epoch": "one row a role",
    "served_bucket": "one row a bucket",
    "served_count": "one row a label, of a fixed set",
    "served_counter": "one row an SLI and tier",
    "service_cursor": "one row a reader",
    "sli_counter": "one row an SLI, tier and epoch",
    "sli_explained": "one row an SLI and tier",
    "sli_now": "replaced by each evaluation",
}
