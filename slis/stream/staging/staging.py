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
    Boolean,
    Connection,
    Dialect,
    SmallInteger,
    Table,
    Text,
    bindparam,
    text,
)
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.schema import CreateIndex, CreateTable

from slis.stream.staging.tables import staged_metadata

_Row = tuple[Any, ...]
# By staging table: its columns, and their values.
StagedRows = Mapping[str, tuple[Sequence[str], Sequence[_Row]]]
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
# Names of types in PostgreSQL. Rows in its binary format need no parser: 0.5 of 2.8 µs an event of
# the server, and 1 µs of the pipeline.
_TYPES: Final[dict[type, str]] = {
    BigInteger: "int8",
    SmallInteger: "int2",
    Text: "text",
    Boolean: "bool",
}
# Those that the transaction has filled before: none, as a rule. 40 statements take twice as long.
_FILLED: Final = text("""
    SELECT relname FROM pg_class
    WHERE relnamespace = pg_my_temp_schema() AND relname IN :names AND pg_relation_size(oid) > 0
""").bindparams(bindparam("names", list(staged_metadata.tables), expanding=True))
_EMPTYING: Final = "DELETE FROM {}"


def create(connection: Connection) -> None:
    """Empty staging tables, for the transaction that is open.

    They stay in the session, empty, for its next transaction: to make and to drop them takes
    PostgreSQL longer than a small batch, and leaves a thousand dead rows in its own tables.
    """
    if connection.dialect.name == "sqlite":
        for statement in _in_sqlite():
            connection.exec_driver_sql(statement)
    elif not _exist(connection):
        connection.exec_driver_sql("; ".join(_in_postgres()))
    elif filled := connection.scalars(_FILLED).all():
        connection.exec_driver_sql("; ".join(map(_EMPTYING.format, filled)))


def _exist(connection: Connection) -> bool:
    """Set what a merge needs; return whether the session has the tables of this release."""
    settings = [f"set_config('{name}', '{value}', true)" for name, value in _SETTINGS.items()]
    query = f"SELECT to_regclass('pg_temp.{_mark()}'), {', '.join(settings)}"
    return connection.exec_driver_sql(query).one()[0] is not None


@cache
def _in_sqlite() -> tuple[str, ...]:
    return (*_creating(_SQLITE()), *map(_EMPTYING.format, staged_metadata.tables))


@cache
def _in_postgres() -> tuple[str, ...]:
    # Behind a pooler the session may have the tables of the release before.
    dropping = (f"DROP TABLE IF EXISTS pg_temp.{name}" for name in staged_metadata.tables)
    return (*dropping, *_creating(_POSTGRES()), f"CREATE TEMPORARY TABLE {_mark()} ()")


@cache
def _mark() -> str:
    """Return the name of a table that the session has beside the others, of these definitions."""
    return f"lineward_staging_{zlib.crc32(' '.join(_creating(_POSTGRES())).encode()):08x}"


def _creating(dialect: Dialect) -> Iterator[str]:
    for table in staged_metadata.sorted_tables:
        yield str(CreateTable(table, if_not_exists=True).compile(dialect=dialect))
        for index in table.indexes:
            yield str(CreateIndex(index, if_not_exists=True).compile(dialect=dialect))


def fill(connection: Connection, rows: StagedRows) -> None:
    """Put rows, each with its columns, into the tables of these names."""
    for table, (columns, values) in rows.items():
        insert_rows(connection, staged_metadata.tables[table], columns, values)


def insert_rows(
    connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[_Row]
) -> None:
    """Insert rows of these columns, none of which the table has, into any table."""
    if not rows:
        return
    if connection.dialect.name == "postgresql":
        _copy(connection, table, columns, rows)
        return
    marks = ", ".join("?" * len(columns))
    statement = f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - our own names
    connection.exec_driver_sql(statement, rows)


def _copy(
    connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[_Row]
) -> None:
    driver = connection.connection.driver_connection
    if driver is None:
        message = "the connection to the catalog was closed while a batch was staged"
        raise ConnectionError(message)
    statement = f"COPY {table.name} ({', '.join(columns)}) FROM STDIN (FORMAT binary)"
    with driver.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types([_TYPES[type(table.c[column].type)] for column in columns])
        for row in rows:
            copy.write_row(row)
