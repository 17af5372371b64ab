"""Datasets and the facts of them: written by the pipeline, in the transaction of the batch.

Evaluations write the two ranks of a dataset, with the state or the tier that they are of.
"""

from sqlalchemy import BigInteger, Boolean, Column, Index, Table, Text, false, text

from lineage.catalog.queries import FAILS, IS_LINK, LISTED, NO_TIER, NOT_JUDGED
from lineage.catalog.tables.columns import flag, instant, key_column, metadata, text_key

_LISTED = text(LISTED)
_UNSOURCED = text("outcome = 'bad'")
_FAILING = text(FAILS)
_INFERRED = text("origin IS NOT NULL")
_IN_FOLDER = text("folder_key IS NOT NULL")

dataset = Table(
    "dataset",
    metadata,
    key_column("dataset_key"),
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("canonical_key", BigInteger, nullable=False),  # itself, or what its symlinks lead to
    Column("folder_key", BigInteger),  # of a file: the dataset that its folder would be
    instant("first_seen_at", nullable=False),
    instant("last_seen_at", nullable=False),
    instant("retired_at"),
    # The policy names it outright: no event moves or retires it. Evaluations write it.
    Column("is_declared", Boolean, nullable=False, server_default=false()),
    # `lineage.catalog.queries`: of the most severe of its states, and of its tier.
    Column("state_rank", BigInteger, nullable=False, server_default=str(NOT_JUDGED)),
    Column("tier_rank", BigInteger, nullable=False, server_default=str(NO_TIER)),
    Index("dataset_canonical", "canonical_key"),
    Index("dataset_name", "name"),
    Index("dataset_folder", "folder_key", sqlite_where=_IN_FOLDER, postgresql_where=_IN_FOLDER),
    Index(
        "dataset_listed",
        # Counted by it alone; with a namespace it would be too long for PostgreSQL.
        *("state_rank", "tier_rank", "name", "canonical_key", "retired_at"),
        sqlite_where=_LISTED,
        postgresql_where=_LISTED,
    ),
    sqlite_with_rowid=False,
)

dataset_alias = Table(
    "dataset_alias",
    metadata,
    # Hash of the spelling; of (dataset, rule) for partitions, which are endless.
    key_column("alias_key"),
    key_column("dataset_key"),
    Column("rule", Text, primary_key=True),  # the folding rule, symlink, rename or policy
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    instant("first_seen_at", nullable=False),
    instant("last_seen_at", nullable=False),
    Index("alias_dataset", "dataset_key"),
    Index(
        "alias_link",
        # With the namespace it answers without a look at the rows.
        *("dataset_key", "namespace", "rule"),
        sqlite_where=text(IS_LINK),
        postgresql_where=text(IS_LINK),
    ),
)

dataset_write = Table(
    "dataset_write",
    metadata,
    key_column("dataset_key"),  # canonical, here and below
    Column("root_run_id", Text, primary_key=True),
    # The hour of a stream's; the hour and 1 µs of runs that completed in it; 0 of all that a root
    # run wrote before migration 0011.
    key_column("bucket"),
    Column("job_key", BigInteger, nullable=False),  # (namespace, job, dataset)
    Column("job_namespace", Text, nullable=False),
    Column("job_name", Text, nullable=False),
    instant("written_at", nullable=False),
    instant("landed_at", nullable=False),
    instant("nominal_start_at"),
    Column("partition", Text),
    flag("names_input"),
    flag("is_reported"),  # by its own events; false: known from evidence alone
    flag("is_streaming"),
    flag("is_history"),
    Column("rows", BigInteger),
    Column("schema_key", BigInteger),  # that the writing run named; null of a stream
    Column("code_version", Text),  # likewise
    Index("dataset_write_time", "dataset_key", "written_at"),
    postgresql_partition_by="RANGE (bucket)",
)

dataset_read = Table(
    "dataset_read",
    metadata,
    key_column("dataset_key"),
    Column("root_run_id", Text, primary_key=True),
    key_column("bucket"),
    Column("job_namespace", Text, nullable=False),
    Column("job_name", Text, nullable=False),
    instant("read_at", nullable=False),
    instant("landed_at", nullable=False),
    flag("is_reported"),
    flag("is_streaming"),
    flag("is_history"),
    instant("counted_at"),  # the evaluation that counted it in M5; null: not yet
    Column("outcome", Text),  # good | bad | unknown, once counted
    Index("dataset_read_uncounted", "counted_at", "read_at"),
    Index(  # of M5
        "dataset_read_unsourced", "read_at", sqlite_where=_UNSOURCED, postgresql_where=_UNSOURCED
    ),
)

dataset_activity = Table(
    "dataset_activity",
    metadata,
    key_column("dataset_key"),
    instant("last_written_at"),  # newest write that is no backfill
    instant("last_write_landed_at"),
    Column("last_write_root_run_id", Text),
    Column("last_write_names_input", Boolean),
    Column("last_write_is_reported", Boolean),
    Column("last_write_is_streaming", Boolean),
    Column("last_job_namespace", Text),
    Column("last_job_name", Text),
    Column("writes", BigInteger, nullable=False),
    instant("last_read_at"),
    instant("first_read_at"),
    instant("last_failed_at"),  # newest failed run that meant to write it
    Column("last_failed_run_id", Text),
    Column("last_failure", Text),  # its error, and whether only an event log has it
    instant("last_dropped_at"),
    instant("last_started_at"),  # newest START of a run that names it as output
    Column(
        "learned_writes", BigInteger, nullable=False
    ),  # `writes` when its limit was last learned
    Index(
        "dataset_activity_failing",
        "last_failed_at",
        sqlite_where=_FAILING,
        postgresql_where=_FAILING,
    ),
    sqlite_with_rowid=False,
)

edge = Table(
    "edge",
    metadata,
    key_column("upstream_key"),
    key_column("downstream_key"),
    key_column("job_key"),
    Column("job_namespace", Text, nullable=False),
    Column("job_name", Text, nullable=False),  # empty: a DatasetEvent declared it, and no job
    # The job's name in events: Spark names the job of each output apart. Of several, the greatest.
    Column("event_job_name", Text),  # null: `job_name`
    instant("first_seen_at", nullable=False),
    instant("last_seen_at", nullable=False),
    Column("runs", BigInteger, nullable=False),
    instant("last_reported_at"),  # null: declared, or known from evidence alone
    instant("declared_at"),  # by the newest JobEvent or DatasetEvent; null: by none
    # The facet that reports the edge, where no run names it by its inputs; null: any other edge.
    Column("origin", Text),  # column_lineage | lineage_facet | sql | foreach_batch
    Index("edge_downstream", "downstream_key"),
    Index(
        "edge_inferred",
        "downstream_key",
        sqlite_where=_INFERRED,
        postgresql_where=_INFERRED,
    ),
)

edge_run = Table(
    "edge_run",
    metadata,
    key_column("upstream_key"),
    key_column("downstream_key"),
    key_column("job_key"),
    text_key("root_run_id"),  # counted once in `edge.runs`, however many of its runs name the edge
    instant("seen_at", nullable=False),
    flag("is_reported"),
    Column("origin", Text),  # as in `edge`, of this run
    # Of retention alone: by ranges of pages, it costs a new row next to nothing.
    Index("edge_run_seen", "seen_at", postgresql_using="brin"),
    sqlite_with_rowid=False,
)

column_edge = Table(
    "column_edge",
    metadata,
    key_column("upstream_key"),
    text_key("upstream_field"),
    key_column("downstream_key"),
    text_key("downstream_field"),
    instant("first_seen_at", nullable=False),
    instant("last_seen_at", nullable=False),
    # JSON: [{"type": …, "subtype": …, "description": …, "masking": …}] as reported last
    Column("transformations", Text),
    Index("column_edge_downstream", "downstream_key", "downstream_field"),
)

schema_version = Table(
    "schema_version",
    metadata,
    key_column("dataset_key"),
    key_column("schema_key"),
    Column("fields", Text, nullable=False),  # JSON: [{"name": …, "type": …}]
    instant("first_seen_at", nullable=False),
    instant("last_seen_at", nullable=False),
    Index("schema_version_first_seen", "first_seen_at", "dataset_key"),
)

dataset_version = Table(
    "dataset_version",
    metadata,
    key_column("dataset_key"),
    text_key("version"),
    instant("first_seen_at", nullable=False),
    instant("last_seen_at", nullable=False),
)

ownership = Table(
    "ownership",
    metadata,
    Column("subject", Text, primary_key=True),  # dataset | job
    key_column("subject_key"),
    text_key("owner"),
    Column("type", Text),
    instant("last_seen_at", nullable=False),
)

tag = Table(
    "tag",
    metadata,
    key_column("dataset_key"),
    text_key("tag"),
    text_key("value"),
    Column("source", Text),  # that set it, as DBT; null: the producer does not say
    instant("last_seen_at", nullable=False),
)

ingestion_gap = Table(
    "ingestion_gap",
    metadata,
    key_column("started_at"),
    instant("ended_at"),  # null: the collector is silent now
)
