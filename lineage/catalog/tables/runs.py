"""Runs and what they touched: written by the pipeline, in the transaction of the batch."""

from sqlalchemy import BigInteger, Column, Index, Table, Text, text

from lineage.catalog.job_names import NAMESPACE_PART
from lineage.catalog.tables.columns import day_of_run, flag, instant, key_column, metadata

_BY_EVIDENCE = text("evidence IS NOT NULL")
_BY_FAILURE = text("failed_at IS NOT NULL")
_BELOW_ROOT = text("leaf_job_name IS NOT NULL")


run = Table(
    "run",
    metadata,
    key_column("run_key"),
    day_of_run(),
    Column("run_id", Text, nullable=False),
    Column("job_namespace", Text, nullable=False),
    Column("job_name", Text, nullable=False),
    Column("root_run_id", Text, nullable=False),
    Column("root_job_namespace", Text, nullable=False),
    Column("root_job_name", Text, nullable=False),
    # The job that people know below its root: a dbt model, an Airflow task, a Spark application.
    Column("leaf_job_namespace", Text),  # null: the root job, here and below
    Column("leaf_job_name", Text),
    Column("parent_run_id", Text),
    instant("first_event_at", nullable=False),
    instant("last_event_at", nullable=False),
    instant("started_at"),  # earliest START
    instant("last_start_at"),  # latest START
    instant("last_fail_at"),  # latest FAIL or ABORT, as it was sent
    instant("completed_at"),  # latest COMPLETE
    instant("failed_at"),  # of `last_fail_at` and the STARTs; or as evidence has it
    instant("nominal_start_at"),
    Column("job_type", Text),
    Column("processing_type", Text),  # BATCH, STREAMING, NONE
    Column("integration", Text),
    Column("engine", Text),
    Column("engine_version", Text),
    Column("adapter_version", Text),
    Column("producer", Text),
    Column("application_id", Text),
    Column("error_message", Text),
    Column("spark_job_id", BigInteger),  # the first that its events name
    Column("code_version", Text),  # sourceCodeLocation, or a tag of the job
    Column("code_url", Text),  # without credentials
    Column("code_path", Text),
    Column("code_tag", Text),
    Column("code_branch", Text),
    Column("job_version", Text),  # by a tag of the job
    Column("spark_conf", Text),  # JSON by key: those that are known to hold no secret
    Column("parameters", Text),  # likewise, of the run
    Column("tags", Text),  # JSON: [{"key": …, "value": …, "source": …}]
    Column("retries_left", BigInteger),  # so many more tries its scheduler announces
    flag("is_history"),  # every event of it came from a history load
    # What evidence adds: `failed` (whatever its events say), `completed` (by no event), or
    # `alone` (no event of it came).
    Column("evidence", Text),
    instant("landed_at", nullable=False),
    Index("run_application", "application_id"),
    Index("run_run_id", "run_id"),
    Index("run_root_run_id", "root_run_id", "started_at"),
    # A Thrift server is the root run of 100,000 runs, of which an hour has few.
    # Not a partial one: SQLite would take it to read all runs that completed.
    Index("run_completed", "root_run_id", "completed_at"),
    # The name alone: with its namespace an entry would be too long for PostgreSQL.
    Index("run_root_job", "root_job_name", "evidence", "first_event_at"),
    Index(
        "run_leaf_job",
        *("leaf_job_name", "evidence", "first_event_at"),
        sqlite_where=_BELOW_ROOT,
        postgresql_where=_BELOW_ROOT,
    ),
    Index("run_job", text(NAMESPACE_PART), "job_name", "first_event_at"),
    Index("run_failed", "failed_at", sqlite_where=_BY_FAILURE, postgresql_where=_BY_FAILURE),
    Index("run_evidence", "evidence", sqlite_where=_BY_EVIDENCE, postgresql_where=_BY_EVIDENCE),
    postgresql_partition_by="RANGE (day)",
)

run_io = Table(
    "run_io",
    metadata,
    key_column("run_key"),
    day_of_run(),
    key_column("dataset_key"),  # as named after folding, before symlinks
    Column("direction", Text, primary_key=True),  # read | write
    instant("first_event_at", nullable=False),
    instant("last_event_at", nullable=False),
    instant("streamed_at"),  # latest RUNNING by which data went out: slis/stream/facts/run_io.py
    flag("has_statistics"),
    Column("lifecycle", Text),  # lifecycleStateChange of the last event
    Column("rows", BigInteger),
    Column("bytes", BigInteger),
    Column("evidence_rows", BigInteger),  # by the event log, where no event reports `rows`
    Column("evidence_bytes", BigInteger),
    Column("schema_key", BigInteger),
    Column("dataset_version", Text),
    Column("checksum", Text),  # algorithm:value, where the producer gives one
    Column("partition", Text),  # that the spelling named before it was folded, as dt=2026-11-21
    instant("partition_at"),  # the day of that partition
    flag("is_reported"),  # by an event; false: known from evidence alone
    instant("landed_at", nullable=False),
    Index("run_io_dataset", "dataset_key"),
    postgresql_partition_by="RANGE (day)",
)
