"""Partitions of the catalog's largest tables in PostgreSQL: one for each range of time.

`lineage.catalog.retention.RANGES` names the tables and the ranges. Rows without a partition of
their own are in the table's default partition, so that no statement fails. SQLite has plain tables.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Final, TypeVar

import msgspec
import structlog
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import OperationalError
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_fixed

from lineage.catalog.retention import RANGES, Ranges
from lineage.process.clock import from_micros, to_micros

_Result = TypeVar("_Result")
Writing = Callable[[Engine], AbstractContextManager[Connection]]
log = structlog.get_logger(__name__)

# A pipeline that stands still for a week finds partitions for the rows that it lands then.
_AHEAD: Final = timedelta(days=7)
# Readers of the table wait behind us for so long. A reader takes seconds, a backup hours: then the
# next turn tries again.
_LOCK_MILLISECONDS: Final = 500
_TRIES: Final = 5
_LOCK_NOT_AVAILABLE: Final = "55P03"
_PARTITIONS: Final = """
    SELECT p.relname, pg_get_expr(p.relpartbound, p.oid)
    FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhrelid
    WHERE i.inhparent = to_regclass(:table) ORDER BY p.relname
"""
_HAS_PARTITIONS: Final = text("SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass(:table)")
_RANGE: Final = re.compile(r"FROM \((?:'(-?\d+)'|MINVALUE)\) TO \('(-?\d+)'\)")
_LEAST: Final = -(1 << 63)


class Partition(msgspec.Struct, frozen=True):
    """Partition with a range: [start, end) in microseconds."""

    name: str
    start: int
    end: int


def is_partitioned(engine: Engine | Connection) -> bool:
    """Return whether this database keeps large tables in partitions."""
    return engine.dialect.name == "postgresql"


def has_partitions(connection: Connection, table: str) -> bool:
    """Return whether a table of PostgreSQL has partitions by now."""
    return bool(connection.scalar(_HAS_PARTITIONS, {"table": table}))


def partitions(connection: Connection, table: str) -> list[Partition]:
    """Return the partitions of a table, but for its default one."""
    found = connection.execute(text(_PARTITIONS), {"table": table}).all()
    return [
        Partition(name, int(bounds[1] or _LEAST), int(bounds[2]))
        for name, bound in found
        if (bounds := _RANGE.search(bound))
    ]


def default_partition(table: str) -> str:
    """Return the name of the partition for rows that no other one is for."""
    return f"{table}_default"


def add_partitions(engine: Engine, now: datetime, writing: Writing) -> list[str]:
    """Make the partitions for today and the next seven days that are missing.

    A table that is still a plain one gets none (`lineage.catalog.run_days`).

    Args:
        engine: of the catalog.
        now: by the pipeline's clock.
        writing: begins a transaction that alone writes to these tables.

    Returns:
        The names of the new ones.
    """
    if not is_partitioned(engine):
        return []
    return [
        name
        for table, ranges in RANGES.items()
        for name in _add_missing(engine, table, _missing(engine, table, ranges, now), writing)
    ]


def _add_missing(engine: Engine, table: str, starts: list[int], writing: Writing) -> list[str]:
    made = []
    for start in starts:
        name = add_partition(engine, table, start, writing)
        if name is None:  # who is in the way of one is in the way of all
            break
        made.append(name)
    if made:
        _count_rows(engine, table)
    return made


def add_partition(engine: Engine, table: str, start: int, writing: Writing) -> str | None:
    """Make a partition; rows of its range that are in the default partition move into it.

    Returns:
        Its name; None where the table was locked by others, or the range has a partition.
    """
    name = _name(table, start)

    def add() -> str | None:
        with writing(engine) as connection:
            limit_lock_waits(connection)
            if _is_free(partitions(connection, table), start, start + RANGES[table].micros):
                _attach(connection, table, name, start)
                return name
            return None

    return when_unlocked(add, name)


def _attach(connection: Connection, table: str, name: str, start: int) -> None:
    column, end = RANGES[table].column, start + RANGES[table].micros
    is_inside = f"{column} >= {start} AND {column} < {end}"
    moved = f"DELETE FROM {default_partition(table)} WHERE {is_inside} RETURNING *"  # noqa: S608 - our own names
    for statement in (
        f"CREATE TABLE {name} (LIKE {table} INCLUDING ALL)",
        f"WITH moved AS ({moved}) INSERT INTO {name} SELECT * FROM moved",  # noqa: S608 - likewise
        # Unlike CREATE TABLE PARTITION OF, this makes no reader of the other partitions wait.
        f"ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ({start}) TO ({end})",
    ):
        connection.exec_driver_sql(statement)


def _name(table: str, start: int) -> str:
    return f"{table}_{from_micros(start):%Y%m%d}"


def _missing(engine: Engine, table: str, ranges: Ranges, now: datetime) -> list[int]:
    starts = _starts(ranges, to_micros(now), to_micros(now + _AHEAD))
    with engine.connect() as connection:
        if not has_partitions(connection, table):
            return []
        existing = partitions(connection, table)
        return [
            at
            for at in starts
            if _is_free(existing, at, at + ranges.micros)
            and not _is_table(connection, _name(table, at))
        ]


def _is_table(connection: Connection, name: str) -> bool:
    """Return whether a table has this name: somebody may have detached that partition."""
    found = connection.scalar(text("SELECT to_regclass(:name)"), {"name": name})
    return found is not None


def _starts(ranges: Ranges, first: int, last: int) -> Iterator[int]:
    return iter(range(ranges.start_of(first), last + 1, ranges.micros))


def _is_free(existing: list[Partition], start: int, end: int) -> bool:
    return all(each.end <= start or each.start >= end for each in existing)


def _count_rows(engine: Engine, table: str) -> None:
    # Autovacuum counts the rows of partitions, and never those of the whole table.
    with engine.begin() as connection:
        connection.exec_driver_sql(f"ANALYZE {table}")


def limit_lock_waits(connection: Connection) -> None:
    """Have this transaction fail instead of making others wait long behind it."""
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {_LOCK_MILLISECONDS}")


def when_unlocked(work: Callable[[], _Result], name: str) -> _Result | None:
    """Return what `work` returns; None where others held their locks at each of five tries."""
    try:
        return retry_lock_waits(work, _TRIES)
    except OperationalError as error:
        if not is_lock_wait(error):
            raise
        log.warning("partition_locked", partition=name)
        return None


def retry_lock_waits(work: Callable[[], _Result], tries: int) -> _Result:
    """Return what `work` returns, once a second until others hold no lock that it needs.

    Raises:
        OperationalError: of the last try.
    """
    retrying = Retrying(
        retry=retry_if_exception(is_lock_wait),
        stop=stop_after_attempt(tries),
        wait=wait_fixed(1),
        reraise=True,
    )
    return retrying(work)


def is_lock_wait(error: BaseException) -> bool:
    """Return whether a statement failed because others held a lock for too long."""
    if not isinstance(error, OperationalError):
        return False
    return getattr(error.orig, "sqlstate", None) == _LOCK_NOT_AVAILABLE
