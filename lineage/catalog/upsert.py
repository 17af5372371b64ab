"""Set-based upserts that fold commutatively.

The same rows for any order, any repeats, any split into batches.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    Table,
    TextClause,
    and_,
    case,
    func,
    or_,
    select,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from lineage.catalog.tables.columns import key_names

_NEVER = -(1 << 62)
MOST_CACHED_STATEMENTS = 256  # of one process; a batch and an evaluation have some 60
_INSERTS: dict[str, Any] = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}
_NAMED = {"postgresql": PGDialect, "sqlite": SQLiteDialect}
ColumnFold = Callable[[Any, Any], ColumnElement[Any]]


class _Extreme(FunctionElement[Any]):
    """Lesser or greater of two values; a null is ignored."""

    inherit_cache = True


class least(_Extreme):  # noqa: N801 - reads as SQL
    """Lesser of two values; the other one where one is null."""

    inherit_cache = True


class greatest(_Extreme):  # noqa: N801 - reads as SQL
    """Greater of two values; the other one where one is null."""

    inherit_cache = True


@compiles(least)
@compiles(greatest)
def _as_in_postgresql(element: Any, compiler: Any, **kw: Any) -> str:  # noqa: ANN401
    name = type(element).__name__
    return f"{name}({compiler.process(element.clauses, **kw)})"


@compiles(least, "sqlite")
@compiles(greatest, "sqlite")
def _as_in_sqlite(element: Any, compiler: Any, **kw: Any) -> str:  # noqa: ANN401
    # SQLite's scalar min() and max() are null as soon as one argument is.
    name = "min" if isinstance(element, least) else "max"
    one, other = (compiler.process(clause, **kw) for clause in element.clauses)
    return f"{name}(coalesce({one}, {other}), coalesce({other}, {one}))"


def either(kept: Any, given: Any) -> ColumnElement[Any]:  # noqa: ANN401
    """Set true as soon as one row is true."""
    return or_(kept, given)


def both(kept: Any, given: Any) -> ColumnElement[Any]:  # noqa: ANN401
    """Keep true as long as both rows are true."""
    return and_(kept, given)


def newest(_kept: Any, given: Any) -> ColumnElement[Any]:  # noqa: ANN401
    """Use the newer row's value."""
    return given  # type: ignore[no-any-return]


def add_up(kept: Any, given: Any) -> ColumnElement[Any]:  # noqa: ANN401
    """Add up both values: for rows that the caller knows to be new."""
    return kept + given  # type: ignore[no-any-return]


@cache
def at_the_later(instant: str, *, ties: ColumnFold | None = None) -> ColumnFold:
    """Use the value of the row whose `instant` is later.

    Of equals what `ties` says, else the kept one's.
    """

    def fold(kept: Any, given: Any) -> ColumnElement[Any]:  # noqa: ANN401
        before, after = kept.table.c[instant], given.table.c[instant]
        is_later = after > func.coalesce(before, _NEVER)
        tied = ties(kept, given) if ties else kept
        return case((is_later, given), (after == before, tied), else_=kept)

    return fold


def insert_for(dialect: Dialect) -> Any:  # noqa: ANN401 - two classes of one shape
    """Return the dialect's INSERT, which supports ON CONFLICT."""
    return _INSERTS[dialect.name]


def fold_rows(
    connection: Connection,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    folds: Mapping[str, ColumnFold] | None = None,
) -> None:
    """Insert rows of ours, each key once; fold them into those that are there.

    Args:
        connection: inside a transaction.
        table: to write.
        rows: the primary key's columns and others, the same ones in each row.
        folds: for each other column, how the kept and the given value make one; None: the given
            one replaces the kept one.
    """
    if not rows:
        return
    insert = insert_for(connection.dialect)(table)
    folds = folds or dict.fromkeys(rows[0].keys() - set(key_names(table)), newest)
    changes = {name: fold(table.c[name], insert.excluded[name]) for name, fold in folds.items()}
    connection.execute(_folding(insert, connection.dialect.name, changes), list(rows))


def _folding(insert: Any, dialect: str, changes: dict[str, Any]) -> Any:  # noqa: ANN401
    keys = key_names(insert.table, dialect)
    if changes:
        return insert.on_conflict_do_update(index_elements=keys, set_=changes)
    return insert.on_conflict_do_nothing(index_elements=keys)


def lock_row(connection: Connection, table: Table, row: Mapping[str, Any]) -> None:
    """Keep a row from everybody else until the transaction ends; insert it where it is missing.

    Two services that count the same would otherwise both begin at the same place.
    """
    connection.execute(insert_for(connection.dialect)(table).on_conflict_do_nothing(), row)
    mine = and_(*(column == row[column.name] for column in table.primary_key))
    connection.execute(select(*table.primary_key).where(mine).with_for_update())


def upsert(  # noqa: PLR0913 - the last two by name
    connection: Connection,
    table: Table,
    query: str,
    folds: Mapping[str, ColumnFold],
    *,
    keeps: str = "",
    given: Mapping[str, Any] | None = None,
) -> int:
    """Insert what `query` gives; fold it into the rows that are there.

    Args:
        connection: inside a transaction.
        table: to write.
        query: gives the primary key's columns, those of `folds` and those of `keeps`, by name,
        each key once.
        folds: for each column, how the kept and the given value make one.
        keeps: columns that the first row decides.
        given: parameters of `query`.

    Returns:
        Number of rows inserted or folded.
    """
    return count_changed(connection, prepare(connection.dialect, table, query, folds, keeps), given)


def count_changed(
    connection: Connection, statement: TextClause, given: Mapping[str, Any] | None
) -> int:
    """Execute a statement; return how many rows it inserted or changed."""
    options = {"preserve_rowcount": True}
    return connection.execute(statement, given or {}, execution_options=options).rowcount


def prepare(
    dialect: Dialect, table: Table, query: str, folds: Mapping[str, ColumnFold], keeps: str = ""
) -> TextClause:
    """Return the statement of `upsert`, to be run for many sets of the query's parameters.

    Building it takes twenty times as long as running it does, so that it is built once a process.
    """
    return _built(dialect.name, table, query, tuple(folds.items()), keeps)


@lru_cache(MOST_CACHED_STATEMENTS)
def _built(
    dialect: str, table: Table, query: str, folds: tuple[tuple[str, ColumnFold], ...], keeps: str
) -> TextClause:
    names = (*(name for name, _ in folds), *keeps.split())
    insert = insert_from(dialect, table, query, names)
    changes = {name: fold(table.c[name], insert.excluded[name]) for name, fold in folds}
    return compiled_for(dialect, _folding(insert, dialect, changes))


def compiled_for(dialect: str, statement: Any, around: str = "{}") -> TextClause:  # noqa: ANN401
    """Return the text of a statement of SQLAlchemy, within the text around it."""
    compiled = statement.compile(dialect=_NAMED[dialect](paramstyle="named"))
    own = {name: value for name, value in compiled.params.items() if value is not None}
    return text(around.format(compiled)).bindparams(**own)


def insert_from(dialect: str, table: Table, query: str, others: tuple[str, ...]) -> Any:  # noqa: ANN401 - two classes of one shape
    """Return the insert of what a query gives: the key of the table, and these other columns."""
    names = [*key_names(table), *others]
    texts = text(query).columns(*(table.c[name] for name in names))
    # By name, whatever the order in the text; SQLite reads ON CONFLICT as a join without a WHERE
    # before it.
    subquery = texts.subquery()
    rows = select(*(subquery.c[name] for name in names)).where(text("1 = 1"))
    return _INSERTS[dialect](table).from_select(names, rows)
