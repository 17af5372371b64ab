"""Add the day in the id of a run, by which PostgreSQL keeps runs in partitions.

The pipeline exchanges the tables in its own turn (`lineage.catalog.run_days`), as statements of the
release before name a key without the day.
"""

# ruff: noqa: S608 - names of ours

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Connection, text

from lineage.catalog.run_days import UNIQUE, bound, exchange_runs

revision = "0020"
down_revision = "0019"

# Longer than a second: only then PostgreSQL ends an autovacuum that is in the way.
_LOCK = "SET LOCAL lock_timeout = '2s'"
# Without a pipeline of the release before.
_IS_UNUSED = """
    SELECT NOT EXISTS (SELECT 1 FROM batch) AND NOT EXISTS (SELECT 1 FROM role_epoch)
"""


def add_day(connection: Connection) -> None:
    """Add the column: a constant default rewrites no row."""
    connection.exec_driver_sql(_LOCK)
    for table in UNIQUE:
        connection.exec_driver_sql(
            f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS day BIGINT NOT NULL DEFAULT 0"
        )


def index_runs(connection: Connection) -> None:
    """Make the key with the day: batches wait while the table is read once."""
    _index(connection, "run")


def index_run_io(connection: Connection) -> None:
    """Make the key of what runs read and wrote, likewise."""
    _index(connection, "run_io")


def _index(connection: Connection, table: str) -> None:
    name, keys = UNIQUE[table]
    connection.exec_driver_sql(_LOCK)
    connection.exec_driver_sql(f"CREATE UNIQUE INDEX IF NOT EXISTS {name} ON {table} ({keys})")


PREPARE = (add_day, index_runs, index_run_io)


def upgrade() -> None:
    """Keep working while roles of the release before still run."""
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        for table in UNIQUE:
            op.add_column(
                table, sa.Column("day", sa.BigInteger, nullable=False, server_default="0")
            )
    elif connection.scalar(text(_IS_UNUSED)):
        connection.exec_driver_sql(_LOCK)
        bound(connection)
        exchange_runs(connection)


def downgrade() -> None:
    """Undo `upgrade`: in PostgreSQL this copies the rows."""
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        for table in UNIQUE:
            op.drop_column(table, "day")
        return
    for table, (_, keys) in UNIQUE.items():
        _undo(connection, table, keys.removesuffix(", day"))


def _undo(connection: Connection, table: str, keys: str) -> None:
    found = "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = to_regclass(:table)"
    given = {"table": table}
    indexes = connection.scalars(text(f"{found} AND NOT indisunique"), given).all()
    for statement in (
        f"CREATE TABLE {table}_plain (LIKE {table} INCLUDING DEFAULTS)",
        f"INSERT INTO {table}_plain SELECT * FROM {table}",
        f"DROP TABLE {table}",
        f"ALTER TABLE {table}_plain RENAME TO {table}",
        f"ALTER TABLE {table} DROP COLUMN day, ADD CONSTRAINT {table}_pkey PRIMARY KEY ({keys})",
        *(index.replace(" ON ONLY ", " ON ") for index in indexes),
    ):
        connection.exec_driver_sql(statement)
