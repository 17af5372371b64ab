"""Deletion of old rows in slices, so that nobody waits long for the catalog."""

import time
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, Engine, select, text

from lineage.catalog.dropped_partitions import drop_partitions
from lineage.catalog.meta_keys import RETAINED_TO
from lineage.catalog.partitions import Writing
from lineage.catalog.retention import RETENTION_RULES, RetentionRole
from lineage.catalog.tables import meta, metadata
from lineage.catalog.tables.columns import key_names
from lineage.catalog.upsert import fold_rows
from lineage.process.clock import from_micros, to_micros

_ROWS: Final = 10_000
_PAUSE_SECONDS: Final = 0.05
_DAY: Final = timedelta(days=1)


def delete_old(
    engine: Engine,
    role: RetentionRole,
    now: datetime,
    days: Mapping[str, int],
    writing: Writing,
) -> dict[str, int]:
    """Delete what this role's tables keep no longer.

    Args:
        engine: of the catalog.
        role: whose tables.
        now: by `retention_time`.
        days: of each setting.
        writing: begins a write transaction of this role.

    Returns:
        The number of rows deleted, by table; those without any are left out.
    """
    deleted = {
        table: delete_old_rows(engine, table, now, days, writing)
        for table, rule in RETENTION_RULES.items()
        if rule.role == role
    }
    return {table: rows for table, rows in deleted.items() if rows}


def delete_old_rows(
    engine: Engine, table: str, now: datetime, days: Mapping[str, int], writing: Writing
) -> int:
    """Delete what one table keeps no longer; return how many rows were deleted one by one."""
    rule = RETENTION_RULES[table]
    kept = rule.days if isinstance(rule.days, int) else days[rule.days]
    until = to_micros(now - timedelta(days=kept))
    given = {"before": rule.before(until), "until": until, "ahead": to_micros(now + _DAY)}
    # First, so that only what has no partition of its own is deleted row by row.
    drop_partitions(engine, table, given, writing)
    return delete_where(engine, table, rule.condition, given, writing)


def delete_where(
    engine: Engine, table: str, condition: str, given: Mapping[str, int], writing: Writing
) -> int:
    """Delete the rows of a table that match, 10,000 a transaction; return how many."""
    return sum(_slices(engine, table, condition, given, writing))


def _slices(
    engine: Engine, table: str, condition: str, given: Mapping[str, int], writing: Writing
) -> Iterator[int]:
    keys = ", ".join(key_names(metadata.tables[table], engine.dialect.name))
    found = f"SELECT {keys} FROM {table} WHERE {condition} LIMIT {_ROWS}"  # noqa: S608 - our own
    statement = text(f"DELETE FROM {table} WHERE ({keys}) IN ({found})")  # noqa: S608 - likewise
    named = {name: given[name] for name in given if f":{name}" in condition}
    # Where there is nothing to delete, which is usual, nobody waits for the lock of a writer.
    while _is_any(engine, f"{found.removesuffix(str(_ROWS))}1", named):
        with writing(engine) as connection:
            rows = connection.execute(statement, named).rowcount
        yield rows
        if rows < _ROWS:
            return
        time.sleep(_PAUSE_SECONDS)


def _is_any(engine: Engine, query: str, given: Mapping[str, int]) -> bool:
    with engine.connect() as connection:
        return connection.execute(text(query), given).first() is not None


def retention_time(connection: Connection, now: datetime) -> datetime:
    """Return the time that retention uses: at most a day after the last one that was recorded.

    A clock that is ahead for an hour thus deletes one day too early, not a year.
    """
    noted = connection.scalar(select(meta.c.value).where(meta.c.name == RETAINED_TO))
    if noted is None:
        return now
    last = from_micros(int(noted))
    return max(last, min(now, last + _DAY))


def note_retention(connection: Connection, at: datetime) -> None:
    """Note the time that retention went by."""
    fold_rows(connection, meta, [{"name": RETAINED_TO, "value": str(to_micros(at))}])
