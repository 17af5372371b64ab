"""Tables of what a batch brings, and of what its merge works out: `staging.create` makes them.

In SQL the former are named `s_run`, the latter `t_new_write`; Python calls them without the letter.
"""

from typing import Any

from sqlalchemy import BigInteger, Column, Index, MetaData, SmallInteger, Table, Text

from lineage.catalog.tables import runs

staged_metadata = MetaData()


def _table(
    name: str, numbers: str = "", texts: str = "", flags: str = "", *, key: str = ""
) -> Table:
    keys = key.split()
    # Flags first: PostgreSQL finds a column behind texts by their lengths, row by row.
    columns = [
        Column(column, kind, primary_key=column in keys, autoincrement=False)
        for names, kind in ((flags, SmallInteger), (numbers, BigInteger), (texts, Text))
        for column in names.split()
    ]
    return _temporary(name, *columns)


def _copy(name: str, table: Table, names: str, *more: Column[Any]) -> Table:
    """Return a staging table with columns of a table of the catalog."""
    columns = (
        Column(column.name, column.type, primary_key=column.primary_key, autoincrement=False)
        for column in (table.c[each] for each in names.split())
    )
    return _temporary(name, *columns, *more)


def _temporary(name: str, *columns: Column[Any]) -> Table:
    return Table(
        name, staged_metadata, *columns, prefixes=["TEMPORARY"], postgresql_on_commit="DELETE ROWS"
    )


event = _table(
    "s_event",
    "seq event_time event_key",
    "kind problem detail",
    "is_streaming is_history is_skewed",
)
run = _table(
    "s_run",
    "run_key day root_day nominal_start_at first_event_at last_event_at started_at last_start_at "
    "completed_at last_fail_at spark_job_id retries_left",
    "run_id job_namespace job_name root_run_id root_job_namespace root_job_name "
    "leaf_job_namespace leaf_job_name parent_run_id job_type "
    "processing_type integration engine engine_version adapter_version producer "
    "application_id error_message "
    "code_version code_url code_path code_tag code_branch job_version spark_conf parameters tags",
    "is_history",
)
run_io = _table(
    "s_run_io",
    "run_key day spelling_key facets_key hour first_event_at last_event_at streamed_at rows bytes",
    "direction",
    "is_measured has_statistics",
)
checkpoint = _table("s_checkpoint", "run_key hour first_at last_at")
name = _table(
    "s_name",
    "spelling_key dataset_key partition_at first_seen_at last_seen_at folder_key",
    "namespace name partition",
    "is_dataset",
    key="spelling_key",
)
alias = _table("s_alias", "alias_key dataset_key first_seen_at last_seen_at", "rule namespace name")
facets = _table(
    "s_facets",
    "spelling_key facets_key dataset_key first_seen_at last_seen_at schema_key",
    "lifecycle version fields checksum",
    key="spelling_key facets_key",
)
link = _table(
    "s_link",
    "alias_key dataset_key first_seen_at last_seen_at spelling_key facets_key",
    "rule namespace name",
)
owner = _table("s_owner", "subject_key last_seen_at spelling_key facets_key", "subject owner type")
assertion = _table(
    "s_assertion",
    "dataset_key tested_at",
    "assertion column_name name severity expected actual",
    "is_success",
)
tag = _table("s_tag", "dataset_key last_seen_at spelling_key facets_key", "tag value source")
field_tag = _table("s_field_tag", "dataset_key tag_key last_seen_at", "field tag value source")
description = _table("s_description", "subject_key last_seen_at", "subject text")
column_edge = _table(
    "s_column_edge",
    "upstream_key downstream_key first_seen_at last_seen_at",
    "upstream_field downstream_field transformations",
)
declared_edge = _table(
    "s_declared_edge",
    "upstream_spelling_key downstream_spelling_key first_seen_at last_seen_at",
    "job_namespace job_name",
)
facet_source = _table(  # sources that an output's facets name
    "s_facet_source", "spelling_key facets_key upstream_spelling_key", "oracle"
)
job_source = _table(  # sources that the `lineage` facet of a run's job names
    "s_job_source", "run_key downstream_spelling_key upstream_spelling_key"
)
sql_text = _table("s_sql_text", "sql_key", "dialect text")
sql_run = _table("s_sql_run", "run_key sql_key")

# --- worked out by the merge
# -----------------------------------------------------------------------

named_source = _table(  # sources that facets of a run name for what it writes
    "t_named_source", "run_key downstream_key upstream_key", "origin namespace name"
)
Index("t_named_source_run", named_source.c.run_key)
micro_write = _table("t_micro_write", "run_key")  # runs that a `foreachBatch` may have made
micro_batch = _table("t_micro_batch", "run_key stream_key")  # of them, each with its stream's runs
Index("t_micro_batch_run", micro_batch.c.run_key)
touched = _table(  # what the runs of the batch read and wrote, as the catalog knows them now
    "t_touched",
    "run_key dataset_key first_event_at last_event_at started_at completed_at failed_at "
    "nominal_start_at rows schema_key",
    "direction root_run_id run_id job_namespace job_name event_job_name partition code_version "
    "failure",
    "is_streaming is_history is_reported is_write is_schema_change is_dropped names_input is_wide",
)
Index("t_touched_run", touched.c.run_key, touched.c.dataset_key)
streamed = _table(  # a stream's hours
    "t_streamed",
    "dataset_key bucket at rows",
    "root_run_id job_namespace job_name direction",
    "names_input is_history is_measured",
)
job = _table(
    "t_job",
    "dataset_key job_key",
    "job_namespace job_name",
    # Not by its names: two of them are longer than PostgreSQL's index entries may be.
    key="dataset_key job_key",
)
inferred = _table(  # inferred inputs of the runs of the batch, by canonical dataset
    "t_inferred", "run_key downstream_key upstream_key", "origin"
)
new_edge = _table(
    "t_new_edge",
    "upstream_key downstream_key job_key first_seen_at last_seen_at is_new",
    "root_run_id job_namespace job_name event_job_name origin",
    "is_reported",
)
written = _table("t_written", "dataset_key", "job_namespace")  # names, and who writes them now
known = _table(  # runs of the batch that the catalog knew before it, and others that it derives
    "t_known",
    "run_key day id_day completed_at",  # the day that it is stored under, and that of its id
    "parent_run_id root_run_id root_job_namespace root_job_name",
    key="run_key",
)
known_root = _table(  # root runs of the batch of which the catalog knew a run before it
    "t_known_root", "root_day", "root_run_id", key="root_run_id"
)
batch_run = _copy(  # the runs of the batch, as the catalog knows them now
    "t_run",
    runs.run,
    "run_key day run_id job_namespace job_name root_run_id root_job_namespace root_job_name "
    "leaf_job_namespace leaf_job_name parent_run_id last_event_at started_at last_start_at "
    "last_fail_at completed_at failed_at nominal_start_at job_type processing_type integration "
    "error_message code_version is_history evidence",
)
batch_io = _copy(  # what these runs read and wrote
    "t_io",
    runs.run_io,
    "run_key day dataset_key direction first_event_at last_event_at streamed_at has_statistics "
    "lifecycle rows schema_key partition partition_at is_reported",
    Column("canonical_key", BigInteger),
)
unsourced = _table(  # of these runs those that name no input, but what they write
    "t_unsourced", "run_key", key="run_key"
)
pair = _table(  # of connectors: which inputs an output is made of
    "t_pair",
    "run_key upstream_key downstream_key",
    key="run_key upstream_key downstream_key",
)
ended_root = _table("t_ended_root", "run_key")  # root runs of the batch that ended
known_write = _table(  # writes of the batch that are stored
    "t_known_write", "dataset_key bucket", "root_run_id", key="dataset_key root_run_id bucket"
)
new_write = _table("t_new_write", "dataset_key writes", key="dataset_key")
match = _table("t_match", "execution_key run_key group_key", key="execution_key")  # of evidence
due = _table("t_due", "group_key", key="group_key")  # of evidence, likewise
named = _table(  # likewise
    "t_named", "", "application_id namespace name leaf_namespace leaf_name", key="application_id"
)
rekeyed = _table("t_rekeyed", "old_key new_key", key="old_key")
