"""Drop an index that no query needs, and keep one by ranges of pages in PostgreSQL."""

from alembic import op
from sqlalchemy import Connection

revision = "0019"
down_revision = "0018"

# Longer than a second: only then PostgreSQL ends an autovacuum that is in the way.
_LOCK = "SET LOCAL lock_timeout = '2s'"


def index_ranges(connection: Connection) -> None:
    """Make the index that replaces `edge_run_seen`: batches wait while the table is read once."""
    connection.exec_driver_sql(_LOCK)
    connection.exec_driver_sql(
        "CREATE INDEX IF NOT EXISTS edge_run_seen_range ON edge_run USING brin (seen_at)"
    )


PREPARE = (index_ranges,)


def upgrade() -> None:
    """Keep working while roles of the release before still run."""
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(_LOCK)
        op.drop_index("edge_run_seen", "edge_run")
        connection.exec_driver_sql("ALTER INDEX edge_run_seen_range RENAME TO edge_run_seen")
    op.drop_index("dataset_read_time", "dataset_read")


def downgrade() -> None:
    """Undo `upgrade`."""
    op.create_index("dataset_read_time", "dataset_read", ["dataset_key", "read_at"])
    if op.get_bind().dialect.name == "postgresql":
        op.drop_index("edge_run_seen", "edge_run")
        op.create_index("edge_run_seen", "edge_run", ["seen_at"])
