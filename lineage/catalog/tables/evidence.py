"""Evidence to check edges of events against, written by the pipeline.

Spark's own event logs first, then reports of runs, inferred inputs and SQL.
"""

from sqlalchemy import BigInteger, Column, Index, Table, Text, text

from lineage.catalog.tables.columns import flag, instant, key_column, metadata, text_key

_UNSETTLED = text("NOT is_settled")
_LATER_ATTEMPT = text("attempt_of IS NOT NULL")

evidence_file = Table(
    "evidence_file",
    metadata,
    text_key("path"),  # of a log, or of one file of a rolling one
    Column("log", Text, nullable=False),
    Column("application_id", Text),  # null: no line has named it yet
    Column("bytes", BigInteger, nullable=False),
    instant("modified_at", nullable=False),
    instant("read_at", nullable=False),
    flag("is_complete"),  # its application ended: nothing more is written to it
    Column("problem", Text),  # why not all of it could be read
    Index("evidence_file_log", "log"),
)

application = Table(
    "application",
    metadata,
    text_key("application_id"),
    # Of the second attempt of an application on YARN and of those after it: the id that Spark has
    # for all attempts. `application_id` is then that id, a slash and the number of the attempt.
    Column("attempt_of", Text),
    Column("name", Text),  # as the listener writes it: `All Kinds` is `all_kinds`
    Column("namespace", Text),  # that its listener is configured with; null: it has none
    instant("started_at"),
    instant("ended_at"),
    Column("spark_version", Text),
    Column("has_listener", BigInteger),  # 1 or 0; null: its settings were not read
    Column("cut_after", BigInteger),  # characters after which Spark shortens a list of paths
    Column("root_run_id", Text),  # of its lineage events; null: none came
    Column("openlineage_run_id", Text),
    Index("application_name", "name"),
    Index(
        "application_attempt_of",
        *("attempt_of", "started_at"),
        sqlite_where=_LATER_ATTEMPT,
        postgresql_where=_LATER_ATTEMPT,
    ),
)

execution = Table(
    "execution",
    metadata,
    key_column("execution_key"),
    Column("application_id", Text, nullable=False),
    Column("execution_id", BigInteger, nullable=False),
    Column("root_execution_id", BigInteger),  # the outermost: a command may run others
    Column("stream_key", BigInteger),  # of its micro-batch
    Column("group_key", BigInteger),  # of the outermost: the run it is, where no event came
    instant("started_at"),
    instant("ended_at"),
    Column("error_message", Text),  # null: it succeeded, once it ended
    Column("spark_job_id", BigInteger),  # the first that it ran
    Column("outputs", BigInteger),  # that its plan names, whether or not they are known datasets
    Column("run_key", BigInteger),  # of the run whose events reported it
    flag("is_whole"),  # its lists are: what they do not name was not read
    flag("is_settled"),  # what its events lack was looked for, late enough
    flag("is_checked"),  # its edges were compared with those that its events reported
    Index("execution_application", "application_id", "execution_id"),
    Index("execution_group", "group_key"),
    Index("execution_stream", "stream_key"),
    Index("execution_run", "run_key", "started_at"),
    Index("execution_unsettled", "ended_at", sqlite_where=_UNSETTLED, postgresql_where=_UNSETTLED),
    sqlite_with_rowid=False,
)

execution_io = Table(
    "execution_io",
    metadata,
    key_column("execution_key"),  # or its `stream_key`: a sink is reported separately
    key_column("dataset_key"),  # as named after folding, before symlinks
    Column("direction", Text, primary_key=True),  # read | write
    sqlite_with_rowid=False,
)

evidence_stage = Table(
    "evidence_stage",
    metadata,
    key_column("stage_key"),  # of one attempt
    Column("execution_key", BigInteger),  # null: it was submitted in a file that was not read yet
    instant("at", nullable=False),
    Column("rows", BigInteger),  # that it wrote out; null: it has not ended yet
    Column("bytes", BigInteger),
    Index("evidence_stage_execution", "execution_key"),
    sqlite_with_rowid=False,
)

edge_check = Table(
    "edge_check",
    metadata,
    key_column("upstream_key"),
    key_column("downstream_key"),
    key_column("job_key"),
    key_column("job_version"),  # hash of its code and of what reported it: checked once for each
    Column("outcome", Text, primary_key=True),  # good | edge_missing | edge_wrong
    text_key("oracle"),  # that says so: event_log | sql | lineage_facet | column_lineage
    Column("root_run_id", Text, nullable=False),  # the last that it was checked in
    Column("producer", Text, nullable=False),
    Column("adapter_version", Text, nullable=False),
    instant("written_at", nullable=False),  # by that run
    instant("first_checked_at", nullable=False),
    instant("checked_at", nullable=False),
    instant("counted_at"),  # the evaluation that counted it in M4; null: not yet
    Index("edge_check_downstream", "downstream_key", "oracle", "written_at"),
    Index("edge_check_uncounted", "counted_at"),
    sqlite_with_rowid=False,
)

edge_reported = Table(  # by a run's own facets, and not by its inputs: until these had time to come
    "edge_told",
    metadata,
    text_key("root_run_id"),
    key_column("downstream_key"),  # canonical when it was reported, as the next
    key_column("upstream_key"),
    text_key("oracle"),  # lineage_facet | column_lineage
    Column("upstream_namespace", Text, nullable=False),  # no event may name it otherwise
    Column("upstream_name", Text, nullable=False),
    instant("seen_at", nullable=False),  # when it landed first
    Index("edge_told_seen", "seen_at"),
)

inferred_input = Table(  # of a run that names no inputs, until it names some
    "inferred_input",
    metadata,
    key_column("run_key"),
    key_column("downstream_key"),  # as named after folding, before symlinks, as the next
    key_column("upstream_key"),
    text_key("origin"),  # column_lineage | lineage_facet | sql | foreach_batch
    Column("upstream_namespace", Text, nullable=False),  # no event may name it otherwise
    Column("upstream_name", Text, nullable=False),
    instant("seen_at", nullable=False),  # when it landed first
    Index("inferred_input_seen", "seen_at"),
    sqlite_with_rowid=False,
)

sql_text = Table(
    "sql_text",
    metadata,
    key_column("sql_key"),  # hash of dialect and text
    Column("dialect", Text, nullable=False),  # as sqlglot calls it; empty: not reported
    Column("text", Text),  # null once it was parsed, or where it is too long to be
    Column("names", Text),  # JSON: [{"reads": [name, …], "writes": […]}, …], one a statement
    Column("problem", Text),  # why it could not be parsed: then it says nothing
    instant("first_seen_at", nullable=False),
    instant("last_seen_at", nullable=False),
    Index("sql_text_seen", "last_seen_at"),
)

sql_run = Table(  # which runs ran which text: until that was held against their edges
    "sql_run",
    metadata,
    key_column("run_key"),
    key_column("sql_key"),
    instant("seen_at", nullable=False),  # when the last event landed that has it
    Index("sql_run_seen", "seen_at"),
    sqlite_with_rowid=False,
)
