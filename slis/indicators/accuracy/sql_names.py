"""Tables that a SQL text reads and writes, statement by statement."""

import logging
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import sqlglot
from sqlglot import expressions as exp
from sqlglot.errors import SqlglotError

_MOST_NAMES = 500  # of one statement
_CUT = 200
# It warns of each statement that it does not know, by its text.
logging.getLogger("sqlglot").setLevel(logging.ERROR)


class UnreadableSqlError(Exception):
    """Error: the text is not SQL of that dialect. The message contains no values of the text."""


class Statement(NamedTuple):
    """Names in lower case, their parts joined by dots as written: `core.orders`."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


def statements(text: str, dialect: str) -> list[Statement]:
    """Return the tables that each statement of the text reads and writes.

    Names of CTEs and subqueries are none of tables; a view that the text itself makes stands for
    what it reads. A statement of another kind says nothing, nor does one that makes or alters a
    table without data. Paths are not names.

    Raises:
        UnreadableSqlError: it could not be parsed, or `dialect` is none that sqlglot has.
    """
    views: dict[str, tuple[str, ...]] = {}
    found: list[Statement] = []
    for tree in _trees(text, dialect):
        reads = _expanded(_reads(tree), views)
        if name := _view(tree):
            views[name] = reads
        elif (writes := _writes(tree)) is not None and (reads or writes):
            found.append(Statement(reads, writes))
    return found


def _trees(text: str, dialect: str) -> Iterable[exp.Expr]:
    try:
        return [tree for tree in sqlglot.parse(text, read=dialect or None) if tree is not None]
    except (SqlglotError, ValueError, RecursionError) as error:
        raise UnreadableSqlError(_problem(error)) from error


def _problem(error: Exception) -> str:
    """Return where parsing stopped, without the text itself: it may hold secrets."""
    where = getattr(error, "errors", None)
    if where and where[0].get("line"):
        return f"line {where[0]['line']}, column {where[0]['col']}: no SQL of its dialect"
    is_of_dialect = isinstance(error, ValueError) and "dialect" in str(error).lower()
    return str(error)[:_CUT] if is_of_dialect else f"{type(error).__name__}: could not be parsed"


def _view(tree: exp.Expr) -> str | None:
    """Return the name of a view, or of a cached table, that the statement makes."""
    is_view = isinstance(tree, exp.Create) and str(tree.args.get("kind")).upper() == "VIEW"
    return _name(_target(tree)) if is_view or isinstance(tree, exp.Cache) else None


def _writes(tree: exp.Expr) -> tuple[str, ...] | None:
    """Return the table whose data the statement changes; empty for a query, None for all else."""
    if isinstance(tree, exp.Query):
        return ()
    is_filled = isinstance(tree, exp.Create) and tree.expression is not None
    is_table = is_filled and str(tree.args.get("kind")).upper() == "TABLE"
    if is_table or isinstance(tree, exp.Insert | exp.Merge | exp.Update | exp.Delete):
        name = _name(_target(tree))
        return (name,) if name else None
    return None


def _target(tree: exp.Expr) -> object:
    named: object = tree.this
    inner: object = named.this if isinstance(named, exp.Schema) else named
    return inner


def _reads(tree: exp.Expr) -> Iterator[str]:
    target = None if isinstance(tree, exp.Query) else _target(tree)
    hidden = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    tables = list(tree.find_all(exp.Table))
    aliases = {table.alias.lower() for table in tables if table.alias}
    for table in tables:
        name = None if table is target else _name(table)
        # A name of one part may be a CTE; `o.items` may be a column of the table called `o`.
        if name and name not in hidden and name.split(".")[0] not in aliases - {name}:
            yield name


def _name(table: object) -> str | None:
    if not isinstance(table, exp.Table):
        return None
    parts = table.parts
    if not parts or not all(isinstance(part, exp.Identifier) for part in parts):
        return None
    names = [part.name.strip().lower() for part in parts]
    is_plain = all(name and "/" not in name and "." not in name for name in names)
    return ".".join(names) if is_plain else None


def _expanded(names: Iterable[str], views: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for name in names:
        found.update(dict.fromkeys(views.get(name, (name,))))
    return tuple(sorted(found))[:_MOST_NAMES]
