"""Reads the catalog for those who only ask: light to import, and unable to write.

SQLAlchemy takes half a second to import on two busy cores, which is all that a command that asks
may take. So questions are SQL that SQLite and PostgreSQL both understand, with `:name` parameters.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from lineage.catalog.pieces import pieces

Row = tuple[Any, ...]
Values = Mapping[str, Any]
_SQLITE = "sqlite:///"
_PARAMETER = re.compile(r"(?<!:):([a-z_][a-z_0-9]*)")


class NoCatalogError(Exception):
    """There is no catalog at that place, or nothing has ever filled it."""


class Reader(Protocol):
    """One connection's reads, all of one moment: a reader sees no commit after its first read."""

    def rows(self, sql: str, values: Values | None = None) -> list[Row]:
        """All rows of the answer, in its order."""
        ...


class _SqliteReader:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, values: Values | None = None) -> list[Row]:
        try:
            return self._connection.execute(sql, values or {}).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                raise NoCatalogError(str(error)) from error
            raise


class _PostgresReader:
    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - psycopg is imported only when used
        self._connection = connection

    def rows(self, sql: str, values: Values | None = None) -> list[Row]:
        from psycopg.errors import UndefinedTable  # noqa: PLC0415 - as above

        try:
            cursor = self._connection.execute(_percent_style(sql), values or {})
        except UndefinedTable as error:
            raise NoCatalogError(str(error)) from error
        return list(cursor.fetchall())


def _percent_style(sql: str) -> str:
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%"))


@contextmanager
def open_reader(url: str) -> Iterator[Reader]:
    """A reader of the catalog at this URL (as `lineage.catalog.engine.open_catalog` takes it).

    Raises:
        NoCatalogError: no file is there; or, at the first read, no tables.
    """
    if url.startswith(_SQLITE):
        with _sqlite(Path(url.removeprefix(_SQLITE))) as reader:
            yield reader
    else:
        with _postgres(url) as reader:
            yield reader


@contextmanager
def _sqlite(path: Path) -> Iterator[Reader]:
    if not path.is_file():
        message = f"no catalog at {path}"
        raise NoCatalogError(message)
    uri = f"{path.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, timeout=10, isolation_level=None)
    try:
        connection.execute("BEGIN")
        yield _SqliteReader(connection)
    finally:
        connection.close()


@contextmanager
def _postgres(url: str) -> Iterator[Reader]:
    import psycopg  # noqa: PLC0415 - 0.2 s that only a PostgreSQL catalog shall cost

    with psycopg.connect(re.sub(r"^postgresql\+\w+:", "postgresql:", url)) as connection:
        connection.read_only = True
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        yield _PostgresReader(connection)


def rows_for(
    reader: Reader, sql: str, keys: Iterable[int | str], values: Values | None = None
) -> list[Row]:
    """Rows of a question that holds `IN (:keys)`, asked in chunks that both databases take."""
    found: list[Row] = []
    for piece in pieces(keys):
        chunk = {f"key_{n}": key for n, key in enumerate(piece)}
        listed = ", ".join(f":{name}" for name in chunk)
        found += reader.rows(sql.replace(":keys", listed), {**(values or {}), **chunk})
    return found
