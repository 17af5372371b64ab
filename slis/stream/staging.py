"""Staging tables: what a batch brings, seen by its own transaction alone.

They are temporary tables of the connection, so that a killed batch leaves nothing behind and two
pipelines cannot mix theirs. Each commit empties them.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Dialect,
    Index,
    MetaData,
    SmallInteger,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.schema import CreateIndex, CreateTable

Row = tuple[Any, ...]
_POSTGRES: type[Dialect] = PGDialect
_SQLITE: type[Dialect] = SQLiteDialect
# Of PostgreSQL, while a batch is merged. Its rows are looked up by their keys, in pages that are in
# memory: with the usual costs of a page, whole tables are read once a batch is large. What is
# grouped by run is 10 MB. A plan is run once: to compile it takes longer than it saves.
_SETTINGS: Final = {
    "random_page_cost": "0.1",
    "seq_page_cost": "0.1",
    "cpu_tuple_cost": "0.1",
    "work_mem": "32MB",
    "jit": "off",
}

metadata = MetaData()


def _table(
    name: str, numbers: str = "", texts: str = "", flags: str = "", *, key: str = ""
) -> Table:
    keys = key.split()
    columns = [
        Column(column, kind, primary_key=column in keys, autoincrement=False)
        for names, kind in ((numbers, BigInteger), (texts, Text), (flags, SmallInteger))
        for column in names.split()
    ]
    return Table(
        name, metadata, *columns, prefixes=["TEMPORARY"], postgresql_on_commit="DELETE ROWS"
    )


event = _table(
    "s_event",
    "seq event_time event_key",
    "kind problem detail",
    "is_streaming is_history is_skewed",
)
run = _table(
    "s_run",
    "run_key nominal_start_at first_event_at last_event_at started_at last_start_at completed_at "
    "last_fail_at spark_job_id retries_left",
    "run_id job_namespace job_name root_run_id root_job_namespace root_job_name "
    "leaf_job_namespace leaf_job_name parent_run_id job_type "
    "processing_type integration engine engine_version adapter_version producer "
    "application_id error_message "
    "code_version code_url code_path code_tag code_branch job_version spark_conf parameters tags",
    "is_history",
)
run_io = _table(
    "s_run_io",
    "run_key spelling_key facets_key hour first_event_at last_event_at streamed_at rows bytes",
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
told_facet = _table(  # sources that an output's facets name
    "s_told_facet", "spelling_key facets_key upstream_spelling_key", "oracle"
)
told_run = _table(  # sources that the `lineage` facet of a run's job names
    "s_told_run", "run_key downstream_spelling_key upstream_spelling_key"
)
sql_text = _table("s_sql_text", "sql_key", "dialect text")
sql_run = _table("s_sql_run", "run_key sql_key")

# --- worked out by the merge
# -----------------------------------------------------------------------

told = _table(  # sources that facets of a run name for what it writes
    "t_told", "run_key downstream_key upstream_key", "origin namespace name"
)
Index("t_told_run", told.c.run_key)
micro_write = _table("t_micro_write", "run_key")  # runs that a `foreachBatch` may have made
micro_batch = _table("t_micro_batch", "run_key stream_key")  # of them, each with its stream's runs
Index("t_micro_batch_run", micro_batch.c.run_key)
touched = _table(  # what the runs of the batch read and wrote, as the catalog knows them now
    "t_touched",
    "run_key dataset_key first_event_at last_event_at started_at completed_at failed_at "
    "nominal_start_at rows schema_key",
    "root_run_id run_id job_namespace job_name event_job_name direction partition code_version "
    "failure",
    "is_streaming is_history is_reported is_write is_schema_change is_dropped names_input is_wide",
)
Index("t_touched_run", touched.c.run_key, touched.c.direction, touched.c.dataset_key)
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
completed = _table(  # runs of the batch that the catalog knew to be complete, and since when
    "t_completed", "run_key completed_at", key="run_key"
)
pair = _table(  # of connectors: which inputs an output is made of
    "t_pair",
    "run_key upstream_key downstream_key",
    key="run_key upstream_key downstream_key",
)
ended_root = _table("t_ended_root", "run_key")  # root runs of the batch that ended
new_write = _table("t_new_write", "dataset_key writes", key="dataset_key")
match = _table("t_match", "execution_key run_key group_key", key="execution_key")  # of evidence
due = _table("t_due", "group_key", key="group_key")  # of evidence, likewise
named = _table(  # likewise
    "t_named", "", "application_id namespace name leaf_namespace leaf_name", key="application_id"
)
rekeyed = _table("t_rekeyed", "old_key new_key", key="old_key")


_EMPTYING: Final = tuple(f"DELETE FROM {name}" for name in metadata.tables)  # noqa: S608 - our own


def create(connection: Connection) -> None:
    """Empty staging tables, for the transaction that is open.

    They stay in the session, empty, for its next transaction: to make and to drop them takes
    PostgreSQL longer than a small batch, and leaves a thousand dead rows in its own tables.
    """
    if connection.dialect.name == "sqlite":
        for statement in _in_sqlite():
            connection.exec_driver_sql(statement)
    else:
        connection.exec_driver_sql("; ".join(_EMPTYING if _exist(connection) else _in_postgres()))


def _exist(connection: Connection) -> bool:
    """Set what a merge needs; return whether the session has the tables of this release."""
    settings = [f"set_config('{name}', '{value}', true)" for name, value in _SETTINGS.items()]
    query = f"SELECT {', '.join(settings)}, to_regclass('pg_temp.{_mark()}')"
    return connection.exec_driver_sql(query).one()[-1] is not None


@cache
def _in_sqlite() -> tuple[str, ...]:
    return (*_creating(_SQLITE()), *_EMPTYING)


@cache
def _in_postgres() -> tuple[str, ...]:
    # Behind a pooler the session may have the tables of the release before.
    dropping = (f"DROP TABLE IF EXISTS pg_temp.{name}" for name in metadata.tables)
    return (*dropping, *_creating(_POSTGRES()), f"CREATE TEMPORARY TABLE {_mark()} ()")


@cache
def _mark() -> str:
    """Return the name of a table that the session has beside the others, of these definitions."""
    return f"lineward_staging_{zlib.crc32(' '.join(_creating(_POSTGRES())).encode()):08x}"


def _creating(dialect: Dialect) -> Iterator[str]:
    for table in metadata.sorted_tables:
        yield str(CreateTable(table, if_not_exists=True).compile(dialect=dialect))
        for index in table.indexes:
            yield str(CreateIndex(index, if_not_exists=True).compile(dialect=dialect))


def fill(connection: Connection, rows: Mapping[str, tuple[Sequence[str], Sequence[Row]]]) -> None:
    """Put rows, each with its columns, into the tables of these names."""
    for table, (columns, values) in rows.items():
        if values:
            _insert(connection, metadata.tables[table], columns, values)


def _insert(
    connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[Row]
) -> None:
    if connection.dialect.name == "postgresql":
        _copy(connection, table, columns, rows)
        return
    marks = ", ".join("?" * len(columns))
    statement = f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - our own names
    connection.exec_driver_sql(statement, rows)


def _copy(
    connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[Row]
) -> None:
    driver = connection.connection.driver_connection
    if driver is None:
        message = "the connection to the catalog was closed while a batch was staged"
        raise ConnectionError(message)
    statement = f"COPY {table.name} ({', '.join(columns)}) FROM STDIN"
    with driver.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)
