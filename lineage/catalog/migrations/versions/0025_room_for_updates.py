"""Leave room in the pages of tables whose rows batches update again and again, in PostgreSQL.

The new version of a row then fits beside the old one, and needs no new index entries.
"""

from typing import Final

from alembic import op

revision = "0025"
down_revision = "0024"

# Longer than a second: only then PostgreSQL ends an autovacuum that is in the way.
_LOCK: Final = "SET LOCAL lock_timeout = '2s'"
_UPDATED: Final = ("dataset", "column_edge", "edge", "schema_version")


def upgrade() -> None:
    """Keep working while roles of the release before still run. Only pages to come have room."""
    _set("SET (fillfactor = 70)")


def downgrade() -> None:
    """Undo `upgrade`."""
    _set("RESET (fillfactor)")


def _set(option: str) -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(_LOCK)
        for table in _UPDATED:
            connection.exec_driver_sql(f"ALTER TABLE {table} {option}")
