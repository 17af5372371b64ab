"""Catalog tables: the only place where collector, pipeline and service meet.

Instants are whole microseconds since 1970 UTC (`lineage.clock.to_micros`) in BIGINT columns: the
same number in SQLite, PostgreSQL, Arrow and Spark. A dataset's, a job's and a run's key is a 64-bit
hash that Spark and Python compute alike (`lineage.keys`), so that a batch needs no look-up. Each
section names its one writing role.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
)

metadata = MetaData()


def _key(name: str) -> Column[int]:
    return Column(name, BigInteger, primary_key=True, autoincrement=False)


def _text_key(name: str) -> Column[str]:
    return Column(name, Text, primary_key=True)


def _instant(name: str, *, nullable: bool = True) -> Column[int]:
    return Column(name, BigInteger, nullable=nullable)


def _flag(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


# --- what arrived: written by the pipeline, in the transaction of the batch ---

batch = Table(
    "batch",
    metadata,
    _text_key("query_id"),  # of the streaming checkpoint: a new checkpoint is a new query
    _key("batch_id"),
    Column("after_seq", BigInteger, nullable=False),  # spool range (after_seq, last_seq]
    Column("last_seq", BigInteger, nullable=False),
    Column("events", BigInteger, nullable=False),
    Column("duplicates", BigInteger, nullable=False),
    _instant("landed_at", nullable=False),
)

reader_cursor = Table(
    "reader_cursor",
    metadata,
    _text_key("reader"),
    Column("seq", BigInteger, nullable=False),
)

event = Table(
    "event",
    metadata,
    # The time leads, so that new keys land at the end of the index whatever its size.
    _key("event_time"),
    _key("event_key"),
    _instant("landed_at", nullable=False),
    Column("last_seq", BigInteger, nullable=False),  # of its batch: counted once, by batch
    _flag("is_streaming"),
    _flag("is_history"),
    _flag("is_skewed"),  # the producer's clock ran over 5 min ahead; event_time is clamped
    Index("event_last_seq", "last_seq"),
    sqlite_with_rowid=False,
)

pipeline_error = Table(
    "pipeline_error",
    metadata,
    _key("spool_seq"),
    Column("reason", Text, nullable=False),
    Column("detail", Text, nullable=False),
    _instant("landed_at", nullable=False),
)

# --- runs and what they touched ---

run = Table(
    "run",
    metadata,
    _key("run_key"),
    Column("run_id", Text, nullable=False),
    Column("job_namespace", Text, nullable=False),
    Column("job_name", Text, nullable=False),
    Column("root_run_id", Text, nullable=False),
    Column("root_job_namespace", Text, nullable=False),
    Column("root_job_name", Text, nullable=False),  # the application: what people call the job
    Column("parent_run_id", Text),
    _instant("first_event_at", nullable=False),
    _instant("last_event_at", nullable=False),
    _instant("started_at"),  # earliest START
    _instant("completed_at"),  # latest COMPLETE
    _instant("failed_at"),  # earliest FAIL or ABORT: sticky
    _instant("nominal_start_at"),
    Column("job_type", Text),
    Column("processing_type", Text),  # BATCH, STREAMING, NONE
    Column("integration", Text),
    Column("engine", Text),
    Column("engine_version", Text),
    Column("adapter_version", Text),
    Column("producer", Text),
    Column("application_id", Text),
    Column("error_message", Text),
    _flag("is_history"),  # every event of it came from a history load
    _instant("landed_at", nullable=False),
    Index("run_run_id", "run_id"),
    Index("run_root_run_id", "root_run_id"),
)

run_io = Table(
    "run_io",
    metadata,
    _key("run_key"),
    _key("dataset_key"),  # as named after folding, before symlinks
    Column("direction", Text, primary_key=True),  # read | write
    _instant("first_event_at", nullable=False),
    _instant("last_event_at", nullable=False),
    _instant("streamed_at"),  # latest RUNNING with output statistics or a checkpoint
    _flag("has_statistics"),
    Column("lifecycle", Text),  # lifecycleStateChange of the last event
    Column("rows", BigInteger),
    Column("bytes", BigInteger),
    Column("schema_key", BigInteger),
    Column("dataset_version", Text),
    Column("partition", Text),  # that the spelling named before it was folded, as dt=2026-11-21
    _instant("partition_at"),  # the day of that partition
    _instant("landed_at", nullable=False),
    Index("run_io_dataset", "dataset_key"),
)

# --- datasets ---

dataset = Table(
    "dataset",
    metadata,
    _key("dataset_key"),
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("canonical_key", BigInteger, nullable=False),  # itself, or what its symlinks lead to
    _instant("first_seen_at", nullable=False),
    _instant("last_seen_at", nullable=False),
    _instant("retired_at"),
    Index("dataset_canonical", "canonical_key"),
    Index("dataset_name", "name"),
)

dataset_alias = Table(
    "dataset_alias",
    metadata,
    _key("alias_key"),  # hash of the spelling; of (dataset, rule) for partitions, which are endless
    _key("dataset_key"),
    Column("rule", Text, primary_key=True),  # the folding rule, symlink, rename or policy
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    _instant("first_seen_at", nullable=False),
    _instant("last_seen_at", nullable=False),
    Index("alias_dataset", "dataset_key"),
)

dataset_write = Table(
    "dataset_write",
    metadata,
    _key("dataset_key"),  # canonical, here and below
    Column("root_run_id", Text, primary_key=True),
    _key("bucket"),  # 0 for a batch write; the hour of a stream's
    Column("job_key", BigInteger, nullable=False),  # (namespace, root job, dataset)
    Column("job_namespace", Text, nullable=False),
    Column("job_name", Text, nullable=False),
    _instant("written_at", nullable=False),
    _instant("landed_at", nullable=False),
    _instant("nominal_start_at"),
    Column("partition", Text),
    _flag("names_input"),
    _flag("is_reported"),  # by its own events; false: known from evidence alone
    _flag("is_streaming"),
    _flag("is_history"),
    Column("rows", BigInteger),
    Index("dataset_write_time", "dataset_key", "written_at"),
)

dataset_read = Table(
    "dataset_read",
    metadata,
    _key("dataset_key"),
    Column("root_run_id", Text, primary_key=True),
    _key("bucket"),
    Column("job_namespace", Text, nullable=False),
    Column("job_name", Text, nullable=False),
    _instant("read_at", nullable=False),
    _instant("landed_at", nullable=False),
    _flag("is_reported"),
    _flag("is_streaming"),
    _flag("is_history"),
    _instant("counted_at"),  # the evaluation that counted it in M5; null: not yet
    Column("outcome", Text),  # good | bad | unknown, once counted
    Index("dataset_read_uncounted", "counted_at", "read_at"),
    Index("dataset_read_time", "dataset_key", "read_at"),
)

dataset_activity = Table(
    "dataset_activity",
    metadata,
    _key("dataset_key"),
    _instant("last_written_at"),  # newest write that is no backfill
    _instant("last_write_landed_at"),
    Column("last_write_root_run_id", Text),
    Column("last_write_names_input", Boolean),
    Column("last_write_is_reported", Boolean),
    Column("last_write_is_streaming", Boolean),
    Column("last_job_namespace", Text),
    Column("last_job_name", Text),
    Column("writes", BigInteger, nullable=False),
    _instant("last_read_at"),
    _instant("first_read_at"),
    _instant("last_failed_at"),  # newest failed run that meant to write it
    Column("last_failed_run_id", Text),
    _instant("last_dropped_at"),
    _instant("last_started_at"),  # newest START of a run that names it as output
    Column(
        "learned_writes", BigInteger, nullable=False
    ),  # `writes` when its limit was last learned
)

edge = Table(
    "edge",
    metadata,
    _key("upstream_key"),
    _key("downstream_key"),
    _key("job_key"),
    Column("job_namespace", Text, nullable=False),
    Column("job_name", Text, nullable=False),
    _instant("first_seen_at", nullable=False),
    _instant("last_seen_at", nullable=False),
    Column("runs", BigInteger, nullable=False),
    Index("edge_downstream", "downstream_key"),
)

edge_run = Table(
    "edge_run",
    metadata,
    _key("upstream_key"),
    _key("downstream_key"),
    _key("job_key"),
    _text_key("root_run_id"),  # counted once in `edge.runs`, however many of its runs name the edge
    _instant("seen_at", nullable=False),
    Index("edge_run_seen", "seen_at"),
    sqlite_with_rowid=False,
)

column_edge = Table(
    "column_edge",
    metadata,
    _key("upstream_key"),
    _text_key("upstream_field"),
    _key("downstream_key"),
    _text_key("downstream_field"),
    _instant("first_seen_at", nullable=False),
    _instant("last_seen_at", nullable=False),
)

schema_version = Table(
    "schema_version",
    metadata,
    _key("dataset_key"),
    _key("schema_key"),
    Column("fields", Text, nullable=False),  # JSON: [{"name": …, "type": …}]
    _instant("first_seen_at", nullable=False),
    _instant("last_seen_at", nullable=False),
)

dataset_version = Table(
    "dataset_version",
    metadata,
    _key("dataset_key"),
    _text_key("version"),
    _instant("first_seen_at", nullable=False),
    _instant("last_seen_at", nullable=False),
)

ownership = Table(
    "ownership",
    metadata,
    Column("subject", Text, primary_key=True),  # dataset | job
    _key("subject_key"),
    _text_key("owner"),
    Column("type", Text),
    _instant("last_seen_at", nullable=False),
)

tag = Table(
    "tag",
    metadata,
    _key("dataset_key"),
    _text_key("tag"),
    _text_key("value"),
    _instant("last_seen_at", nullable=False),
)

ingestion_gap = Table(
    "ingestion_gap",
    metadata,
    _key("started_at"),
    _instant("ended_at"),  # null: the collector is silent now
)

# --- what the policy says of each dataset, and what was learned: pipeline, at an evaluation ---

dataset_policy = Table(
    "dataset_policy",
    metadata,
    _key("dataset_key"),
    Column("tier", Text, nullable=False),
    Column("tier_origin", Text, nullable=False),  # declared | inherited | default
    Column("tier_reason", Text),
    Column("owner", Text),
    Column("owner_origin", Text),  # policy | facet
    _flag("is_source"),
    _flag("is_generated"),
    _flag("is_streaming"),
    _flag("is_declared"),  # the policy names it outright: expected before it is ever seen
    Column("is_expected", Boolean),  # false: only ever read, and by the way
    Column("declared_limit_seconds", Float),
)

dataset_limit = Table(
    "dataset_limit",
    metadata,
    _key("dataset_key"),
    Column("limit_seconds", Float),  # null: still learning
    Column("cadence_class", Text, nullable=False),  # streaming | periodic | bursty | event_driven
    Column("cadence_seconds", Float),
    Column("duration_seconds", Float),  # usual, from the first START to the last COMPLETE
    Column("gaps", Integer, nullable=False),
    Column("explanation", Text, nullable=False),
    _instant("learned_at", nullable=False),
)

# --- what was found: pipeline, in the transaction of an evaluation ---

evaluation = Table(
    "evaluation",
    metadata,
    _key("as_of"),
    Column("previous_as_of", BigInteger),
    Column("last_seq", BigInteger, nullable=False),  # batches up to here were counted in M6
    Column("policy_hash", Text, nullable=False),
    Column("datasets", BigInteger, nullable=False),
    Column("seconds", Float, nullable=False),
)

sli_counter = Table(
    "sli_counter",
    metadata,
    _text_key("sli"),  # M1, M2, M5, M6
    _text_key("tier"),
    _text_key("tier_origin"),
    _text_key("epoch"),
    Column("good", Float, nullable=False),  # events, or dataset-seconds
    Column("total", Float, nullable=False),
    Column("unknown", Float, nullable=False),
)

sli_hour = Table(
    "sli_hour",
    metadata,
    _text_key("sli"),
    _text_key("tier"),
    _key("hour"),
    Column("good", Float, nullable=False),
    Column("total", Float, nullable=False),
    Column("unknown", Float, nullable=False),
)

sli_now = Table(
    "sli_now",
    metadata,
    _text_key("sli"),
    _text_key("tier"),
    _text_key("tier_origin"),
    Column("good", Float, nullable=False),
    Column("total", Float, nullable=False),
    Column("unknown", Float, nullable=False),
    Column("learning", Float, nullable=False),
    Column("excepted", Float, nullable=False),
)

dataset_state = Table(
    "dataset_state",
    metadata,
    _key("dataset_key"),
    _text_key("sli"),
    Column("state", Text, nullable=False),  # good | bad | learning | unknown
    Column("reason", Text),
    Column("evidence", Text),
    _instant("since", nullable=False),
    Column("age_seconds", Float),
    Column("limit_seconds", Float),
    Column("limit_origin", Text),  # declared | streaming | learned
)

lag_bucket = Table(
    "lag_bucket",
    metadata,
    _text_key("processing"),  # batch | streaming
    _text_key("le"),  # upper bound in seconds, as Prometheus writes it; "sum" holds the sum
    Column("value", Float, nullable=False),
)

meta = Table(
    "meta",
    metadata,
    _text_key("name"),  # catalog_epoch, installed_at, history_from …
    Column("value", Text, nullable=False),
)

# --- what people asked for: written by the service ---

retirement = Table(
    "retirement",
    metadata,
    _key("dataset_key"),
    _instant("requested_at", nullable=False),
    Column("note", Text, nullable=False),
)

audit = Table(
    "audit",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    _instant("at", nullable=False),
    Column("who", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("detail", Text, nullable=False),
)
