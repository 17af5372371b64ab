"""Reader of the catalog for processes that only query: light to import, unable to write.

SQLAlchemy takes half a second to import on two busy cores, which is all that a command that asks
may take. So questions are SQL that SQLite and PostgreSQL both understand, with `:name` parameters.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from lineage.catalog.rows import Row, name_rows
from lineage.catalog.trouble import BUSY_SECONDS, CatalogError, explain_sqlite_error

if TYPE_CHECKING:
    from lineage.catalog.postgres import Connections

Values = Mapping[str, Any]
QUERY_SECONDS: Final = 15.0
# The time by the database's clock in µs, the same for all who ask. In PostgreSQL now() would be
# the time before a wait for a lock.
CLOCKS: Final = {
    "sqlite": "CAST((julianday('now') - 2440587.5) * 86400000000 AS BIGINT)",
    "postgresql": "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)",
}
_SQLITE = "sqlite:///"
_KEYS = "IN (:keys)"
_kept: "dict[str, Connections]" = {}  # of this process, by URL
_PARAMETER = re.compile(r"(?<!:):([a-z_][a-z_0-9]*)")


class NoCatalogError(Exception):
    """Error: there is no catalog at that place, or it was never filled."""


class UnreachableCatalogError(CatalogError):
    """Error: the server that has the catalog does not respond."""


class CatalogReader(Protocol):
    """Reader on one connection, all of one moment: it sees no commit after its first read.

    Attributes:
        clock: SQL of the database's own time, µs.
    """

    clock: str

    def rows(self, sql: str, values: Values | None = None) -> list[Row]:
        """Return all rows of the result, in order."""
        ...

    def columns(self, sql: str, width: int, values: Values | None = None) -> list[list[Any]]:
        """Return the result by columns, `width` in number; faster for thousands of rows."""
        ...

    def listed(self, sql: str, keys: list[int | str], values: Values) -> tuple[str, Values]:
        """Build a query that holds `IN (:keys)`, with the keys as one of its values."""
        ...

    def alike(self, column: str, pattern: str) -> str:
        """Return the condition that a text is LIKE a pattern, ignoring the case of ASCII letters.

        Args:
            column: with the text.
            pattern: the parameter, as `:contains`; `!` escapes.
        """
        ...


class _SqliteReader:
    clock = CLOCKS["sqlite"]

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, values: Values | None = None) -> list[Row]:
        cursor = self._connection.execute(sql, values or {})
        return name_rows([column[0] for column in cursor.description], cursor.fetchall())

    def columns(self, sql: str, width: int, values: Values | None = None) -> list[list[Any]]:
        # As texts, which the database writes without Python's lock: a row is fetched with it.
        names = [f"c{number}" for number in range(width)]
        texts = ", ".join(f"json_group_array({name})" for name in names)
        (row,) = self.rows(f"WITH a({', '.join(names)}) AS ({sql}) SELECT {texts} FROM a", values)  # noqa: S608 - names of ours
        return [msgspec.json.decode(text) for text in row]

    def listed(self, sql: str, keys: list[int | str], values: Values) -> tuple[str, Values]:
        # Thousands of parameters are bound and read in twice the time.
        listed = sql.replace(_KEYS, "IN (SELECT value FROM json_each(:keys))")
        return listed, {**values, "keys": msgspec.json.encode(keys).decode()}

    def alike(self, column: str, pattern: str) -> str:
        return f"{column} LIKE {pattern} ESCAPE '!'"


class _PostgresReader:
    clock = CLOCKS["postgresql"]

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - psycopg is imported only when used
        self._connection = connection

    def rows(self, sql: str, values: Values | None = None) -> list[Row]:
        from psycopg import OperationalError  # noqa: PLC0415 - as above
        from psycopg.errors import UndefinedTable  # noqa: PLC0415 - as above

        try:
            cursor = self._connection.execute(_percent_style(sql), values or {})
        except UndefinedTable as error:
            raise NoCatalogError(str(error)) from error
        except OperationalError as error:  # gone, silent, or slower than a statement may be
            raise UnreachableCatalogError(str(error).partition("\n")[0]) from error
        return name_rows([column.name for column in cursor.description], cursor.fetchall())

    def columns(self, sql: str, width: int, values: Values | None = None) -> list[list[Any]]:
        rows = self.rows(sql, values)
        return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]

    def listed(self, sql: str, keys: list[int | str], values: Values) -> tuple[str, Values]:
        return sql.replace(_KEYS, "= ANY(:keys)"), {**values, "keys": keys}

    def alike(self, column: str, pattern: str) -> str:
        # By "C" and not as the database was made: SQLite's LIKE knows ASCII's letters alone.
        sides = (f'lower({text} COLLATE "C")' for text in (column, f"CAST({pattern} AS TEXT)"))
        return f"{' LIKE '.join(sides)} ESCAPE '!'"


def _percent_style(sql: str) -> str:
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%"))


@contextmanager
def open_reader(url: str, *, seconds: float = QUERY_SECONDS) -> Iterator[CatalogReader]:
    """Open a reader of the catalog at this URL (see `lineage.catalog.engine.open_catalog`).

    Args:
        url: of the catalog.
        seconds: for which a PostgreSQL may work at one statement, or say nothing.

    Raises:
        NoCatalogError: no file is there; or, at the first read, no tables.
        UnreachableCatalogError: its server does not respond, or rejects the connection.
    """
    if url.startswith(_SQLITE):
        with _sqlite(Path(url.removeprefix(_SQLITE))) as reader:
            yield reader
    else:
        with _postgres(url, seconds) as reader:
            yield reader


def keep_connections(url: str, most: int) -> None:
    """Have this process keep its connections to a PostgreSQL catalog, `most` at once.

    A process that asks once has no use for that.
    """
    if not url.startswith(_SQLITE):
        from lineage.catalog.postgres import Connections  # noqa: PLC0415 - as `_postgres`

        _kept[url] = Connections(_libpq(url), most)


@contextmanager
def _sqlite(path: Path) -> Iterator[CatalogReader]:
    if not path.is_file():
        message = f"no catalog at {path}"
        raise NoCatalogError(message)
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with _translated(path), closing(_connected(uri)) as connection:
        connection.execute("BEGIN")
        yield _SqliteReader(connection)


def read_connection(connection: Any) -> CatalogReader:  # noqa: ANN401 - the driver's, as SQLAlchemy has it
    """Return a reader of a connection to SQLite that is open."""
    return _SqliteReader(connection)


def _connected(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Return errors of sqlite3 as errors of the catalog, where they are."""
    try:
        yield
    except sqlite3.Error as error:
        if "no such table" in str(error):
            raise NoCatalogError(str(error)) from error
        if (trouble := explain_sqlite_error(error, str(path))) is not None:
            raise trouble from error
        raise


@contextmanager
def _postgres(url: str, seconds: float) -> Iterator[CatalogReader]:
    # 0.2 s that only a PostgreSQL catalog shall cost.
    from psycopg import OperationalError  # noqa: PLC0415

    from lineage.catalog.postgres import Connections  # noqa: PLC0415

    kept = _kept.get(url)
    connections = kept or Connections(_libpq(url), 1)
    with ExitStack() as held:
        if kept is None:
            held.callback(connections.close)
        try:
            connection = held.enter_context(connections.taken(seconds))
        except OperationalError as error:
            raise UnreachableCatalogError(str(error).partition("\n")[0]) from error
        yield _PostgresReader(connection)


def _libpq(url: str) -> str:
    return re.sub(r"^postgresql\+\w+:", "postgresql:", url)


def rows_for(
    reader: CatalogReader, sql: str, keys: Iterable[int | str], values: Values | None = None
) -> list[Row]:
    """Return the rows of a query with `IN (:keys)`, for any number of keys; none for none."""
    wanted = list(keys)
    return reader.rows(*reader.listed(sql, wanted, values or {})) if wanted else []


def columns_for(
    reader: CatalogReader,
    sql: str,
    width: int,
    keys: Iterable[int | str],
    values: Values | None = None,
) -> list[list[Any]]:
    """Return the result by columns, `width` in number; faster for thousands of rows."""
    listed, given = reader.listed(sql, list(keys), values or {})
    return reader.columns(listed, width, given)
