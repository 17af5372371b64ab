"""Retention of the tables that PostgreSQL keeps in partitions: a range that is over goes at once.

There are three steps; if the process ends after one, the next turn goes on from there. First, a
range is detached, and in the same transaction the rows that its rule keeps move to the default
partition. Then the rows that a batch changed meanwhile move. At last the table is dropped, which
nobody reads any more.
"""

from collections.abc import Mapping
from typing import Any, Final

import structlog
from sqlalchemy import Connection, Engine, text

from lineage.catalog.engine import write_transaction as writing_beside
from lineage.catalog.partitions import (
    Partition,
    Writing,
    is_partitioned,
    limit_lock_waits,
    partitions,
    when_unlocked,
)
from lineage.catalog.retention import RETENTION_RULES
from lineage.catalog.tables import metadata
from lineage.catalog.tables.columns import key_names

log = structlog.get_logger(__name__)

# They move while the table is locked. A range with more of them stays, and loses its rows one by
# one: that of before the upgrade has the first write of each dataset.
_MOST_KEPT: Final = 20_000
_EXPIRED: Final = "_expired"
# A range that somebody has detached by hand has another name.
_LEFT: Final = """
    SELECT relname FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
    AND relname ~ :pattern ORDER BY relname
"""
_Keys = list[tuple[Any, ...]]


def drop_partitions(
    engine: Engine, table: str, given: Mapping[str, int], writing: Writing
) -> list[str]:
    """Drop the ranges of a table that end before `:before`; rows that its rule keeps stay.

    Args:
        engine: of the catalog.
        table: any one: most have no ranges, and none has any in SQLite.
        given: the times that its rule goes by.
        writing: begins a transaction that alone writes to the table.

    Returns:
        The names of the ranges that were dropped.
    """
    ranges = RETENTION_RULES[table].ranges
    if ranges is None or not is_partitioned(engine):
        return []
    with engine.connect() as connection:
        over = [
            each
            for each in partitions(connection, table)
            if each.end <= given["before"] and each.start != ranges.undated
        ]
    for partition in over:
        _expire(engine, table, partition, given, writing)
    return [name for name in _left(engine, table) if _drop(engine, table, name, given, writing)]


def _expire(
    engine: Engine, table: str, partition: Partition, given: Mapping[str, int], writing: Writing
) -> None:
    kept = kept_rows(engine, table, partition.name, given)
    if len(kept) > _MOST_KEPT:
        return

    def detach() -> None:
        expired = f"{partition.name}{_EXPIRED}"
        with writing(engine) as connection:
            limit_lock_waits(connection)
            for statement in (
                f"ALTER TABLE {table} DETACH PARTITION {partition.name}",
                f"ALTER TABLE {partition.name} RENAME TO {expired}",
            ):
                connection.exec_driver_sql(statement)
            move_rows(connection, table, expired, kept)

    when_unlocked(detach, partition.name)


def kept_rows(engine: Engine, table: str, part: str, given: Mapping[str, int]) -> _Keys:
    """Return the primary keys of rows of a part that the table's rule keeps, 20,001 at most."""
    rule = RETENTION_RULES[table]
    if rule.ranges is None or rule.ranges.may_stay is None:
        return []
    keys = ", ".join(key_names(metadata.tables[table]))
    rows = rule.ranges.may_stay.format(part=part)
    # By the name of the table, as its rule names the row.
    # Materialized: PostgreSQL would look at the whole rule for each row of the part.
    query = (
        f"WITH may_stay AS MATERIALIZED ({rows}) SELECT {keys} FROM may_stay AS {table}"  # noqa: S608 - our own names
        f" WHERE ({rule.condition}) IS NOT TRUE LIMIT {_MOST_KEPT + 1}"
    )
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(query), given)]


def move_rows(connection: Connection, table: str, expired: str, keys: _Keys) -> None:
    """Move rows from a detached range back into the table."""
    if not keys:
        return
    columns = [metadata.tables[table].c[name] for name in key_names(metadata.tables[table])]
    names = ", ".join(column.name for column in columns)
    arrays = ", ".join(
        f"CAST(:{column.name} AS {column.type.compile(connection.dialect)}[])" for column in columns
    )
    values = zip(*keys, strict=True)
    connection.execute(
        text(f"""
            WITH moved AS (
                DELETE FROM {expired} WHERE ({names}) IN (SELECT * FROM unnest({arrays}))
                RETURNING *)
            INSERT INTO {table} SELECT * FROM moved ON CONFLICT DO NOTHING
        """),  # noqa: S608 - our own names
        {column.name: list(each) for column, each in zip(columns, values, strict=True)},
    )


def _left(engine: Engine, table: str) -> list[str]:
    pattern = f"^{table}_([0-9]{{8}}|legacy){_EXPIRED}$"
    with engine.connect() as connection:
        return list(connection.scalars(text(_LEFT), {"pattern": pattern}))


def _drop(
    engine: Engine, table: str, expired: str, given: Mapping[str, int], writing: Writing
) -> bool:
    # Between the look at the range and its end a batch may have changed it, for the last time.
    while keys := kept_rows(engine, table, expired, given):
        with writing(engine) as connection:
            move_rows(connection, table, expired, keys)

    def drop() -> bool:
        with writing_beside(engine) as connection:
            limit_lock_waits(connection)
            connection.exec_driver_sql(f"DROP TABLE {expired}")
            return True

    is_dropped = bool(when_unlocked(drop, expired))
    if is_dropped:
        log.info("partition_dropped", partition=expired.removesuffix(_EXPIRED))
    return is_dropped
