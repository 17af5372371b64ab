"""Index batches by the number of their last event: evaluations look for the newest ones."""

from alembic import op
from sqlalchemy import Connection

revision = "0024"
down_revision = "0023"

# Longer than a second: only then PostgreSQL ends an autovacuum that is in the way.
_LOCK = "SET LOCAL lock_timeout = '2s'"
_INDEX = "CREATE INDEX IF NOT EXISTS batch_last_seq ON batch (last_seq)"


def index_batches(connection: Connection) -> None:
    """Make the index: batches wait while the table is read once."""
    connection.exec_driver_sql(_LOCK)
    connection.exec_driver_sql(_INDEX)


PREPARE = (index_batches,)


def upgrade() -> None:
    """Keep working while roles of the release before still run."""
    op.execute(_INDEX)


def downgrade() -> None:
    """Undo `upgrade`."""
    op.drop_index("batch_last_seq", "batch")
