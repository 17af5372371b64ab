"""Keep events and writes in partitions by time, in PostgreSQL."""

# ruff: noqa: S608 - numbers and names of ours

import re

from alembic import op
from sqlalchemy import Connection, text

from lineage.catalog.exchange import Exchange, exchange

revision = "0018"
down_revision = "0017"

_DAY = 86_400_000_000
# Of each table the column, the days of a range, the primary key and an index.
_TABLES = {
    "event": ("event_time", 1, "event_time, event_key", ("event_last_seq", "last_seq")),
    "dataset_write": (
        "bucket",
        30,
        "dataset_key, root_run_id, bucket",
        ("dataset_write_time", "dataset_key, written_at"),
    ),
}
# Longer than a second: only then PostgreSQL ends an autovacuum that is in the way.
_LOCK = "SET LOCAL lock_timeout = '2s'"
_CONSTRAINT = """
    SELECT pg_get_constraintdef(oid) FROM pg_constraint
    WHERE conrelid = to_regclass(:table) AND conname = :name
"""


def _cut(connection: Connection, table: str) -> int | None:
    """Return the end of the rows of before, if it has been chosen."""
    given = {"table": table, "name": f"{table}_legacy"}
    found = connection.scalar(text(_CONSTRAINT), given)
    return None if found is None else int(re.findall(r"\d{10,}", found)[0])


def _now(connection: Connection) -> int:
    micros = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"
    return int(connection.scalar(text(micros)) or 0)


def bound(connection: Connection) -> None:
    """Have no row of the tables lie beyond the start of a range soon from now.

    A row beyond it fails until `upgrade` has run: such a batch is tried again.
    """
    connection.exec_driver_sql(_LOCK)
    now = _now(connection)
    for table, (column, days, *_) in _TABLES.items():
        cut = _cut(connection, table)
        if cut is not None and cut > now + _DAY // 2:
            continue
        span = days * _DAY
        cut = (now + _DAY) // span * span + span
        connection.exec_driver_sql(
            f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {table}_legacy,"
            f" ADD CONSTRAINT {table}_legacy CHECK ({column} < {cut}) NOT VALID"
        )
        connection.exec_driver_sql(
            f"CREATE TABLE IF NOT EXISTS {table}_default (LIKE {table} INCLUDING ALL"
            " EXCLUDING CONSTRAINTS)"
        )


def move(connection: Connection) -> None:
    """Move the rows beyond it aside: clocks that were ahead wrote them."""
    for table, (column, *_) in _TABLES.items():
        connection.exec_driver_sql(
            f"WITH moved AS (DELETE FROM {table} WHERE {column} >= {_cut(connection, table)}"
            f" RETURNING *) INSERT INTO {table}_default SELECT * FROM moved"
        )


def validate(connection: Connection) -> None:
    """Look at all rows, so that `upgrade` does not while everybody waits."""
    for table in _TABLES:
        connection.exec_driver_sql(f"ALTER TABLE {table} VALIDATE CONSTRAINT {table}_legacy")


PREPARE = (bound, move, validate)


def upgrade() -> None:
    """Keep working while roles of the release before still run. No row is copied."""
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    connection.exec_driver_sql(_LOCK)
    for table in _TABLES:
        _partition(connection, table)


def _partition(connection: Connection, table: str) -> None:
    column, _, keys, _ = _TABLES[table]
    legacy, cut = f"{table}_legacy", _cut(connection, table)
    bounds = f"FROM (MINVALUE) TO ({cut})"
    exchange(connection, Exchange(table, legacy, column, keys, bounds))
    if not connection.scalar(text(f"SELECT EXISTS (SELECT 1 FROM {legacy})")):
        connection.exec_driver_sql(f"DROP TABLE {legacy}")


def downgrade() -> None:
    """Undo `upgrade`: this copies the rows."""
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    for table, (_, _, keys, (index, columns)) in _TABLES.items():
        for statement in (
            f"CREATE TABLE {table}_plain (LIKE {table} INCLUDING DEFAULTS)",
            f"INSERT INTO {table}_plain SELECT * FROM {table}",
            f"DROP TABLE {table}",
            f"ALTER TABLE {table}_plain RENAME TO {table}",
            f"ALTER TABLE {table} ADD CONSTRAINT {table}_pkey PRIMARY KEY ({keys})",
            f"CREATE INDEX {index} ON {table} ({columns})",
        ):
            connection.exec_driver_sql(statement)
