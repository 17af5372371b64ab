"""Partitions of runs, by the day in their id, in place of the plain tables of an older release.

A migration adds the day and a unique index with it: statements of the release before go on. The
pipeline of this release, which alone writes runs, makes the tables partitions of new ones, in
three steps; each may be repeated. Until then it stores each run under day 0, as all runs of before
the upgrade are stored. A run that is known goes on under its day.
"""

from collections.abc import Callable
from typing import Final

import structlog
from sqlalchemy import Connection, Engine, text

from lineage.catalog.engine import write_transaction
from lineage.catalog.exchange import Exchange, exchange
from lineage.catalog.partitions import Writing, has_partitions, limit_lock_waits, when_unlocked

log = structlog.get_logger(__name__)

UNIQUE: Final = {
    "run": ("run_day", "run_key, day"),
    "run_io": ("run_io_day", "run_key, dataset_key, direction, day"),
}
TABLES: Final = tuple(
    Exchange(
        table=table,
        part=f"{table}_undated",
        column="day",
        keys=keys,
        bounds="FROM (0) TO (1)",
        unique=unique,
    )
    for table, (unique, keys) in UNIQUE.items()
)
_IS_BOUND: Final = text("""
    SELECT count(*) FROM pg_constraint
    WHERE conname = 'run_undated' AND conrelid = to_regclass('run')
""")


def has_days(connection: Connection) -> bool:
    """Return whether a run is stored under the day in its id: not in plain tables of PostgreSQL."""
    return connection.dialect.name == "sqlite" or has_partitions(connection, "run")


def partition_runs(engine: Engine, writing: Writing) -> list[str]:
    """Exchange the plain tables of an older release; what others' locks prevent is done later.

    Args:
        engine: of the catalog.
        writing: begins a transaction that alone writes to these tables.

    Returns:
        The names of the new partitions.
    """
    with engine.connect() as connection:
        if has_days(connection):
            return []
    steps: tuple[tuple[Callable[[Connection], None], Writing], ...] = (
        (bound, writing),
        (validate, write_transaction),
        (exchange_runs, writing),
        (_count_rows, write_transaction),
    )
    is_done = all(_take(engine, step, transaction) for step, transaction in steps)
    return [each.part for each in TABLES] if is_done else []


def _take(engine: Engine, step: Callable[[Connection], None], transaction: Writing) -> bool:
    def take() -> bool:
        with transaction(engine) as connection:
            limit_lock_waits(connection)
            step(connection)
            return True

    return bool(when_unlocked(take, "run"))


def bound(connection: Connection) -> None:
    """Have each row of the tables lie in day 0, without a look at them."""
    if connection.scalar(_IS_BOUND):
        return
    for each in TABLES:
        connection.exec_driver_sql(
            f"ALTER TABLE {each.table} ADD CONSTRAINT {each.part} CHECK (day = 0) NOT VALID"
        )


def validate(connection: Connection) -> None:
    """Look at all rows, while others read and write them."""
    for each in TABLES:
        connection.exec_driver_sql(f"ALTER TABLE {each.table} VALIDATE CONSTRAINT {each.part}")


def exchange_runs(connection: Connection) -> None:
    """Make both tables partitions: a run and what it read and wrote have one day."""
    connection.exec_driver_sql("LOCK TABLE run, run_io IN ACCESS EXCLUSIVE MODE")
    for each in TABLES:
        exchange(connection, each)


def _count_rows(connection: Connection) -> None:
    # Autovacuum counts the rows of partitions, and never those of the whole table.
    connection.exec_driver_sql("ANALYZE run, run_io")
