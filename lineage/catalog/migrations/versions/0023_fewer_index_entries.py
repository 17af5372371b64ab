"""Find events of a batch by ranges of pages in PostgreSQL, and runs of an edge by its key."""

from alembic import op
from sqlalchemy import Connection, text

revision = "0023"
down_revision = "0022"

# Longer than a second: only then PostgreSQL ends an autovacuum that is in the way.
_LOCK = "SET LOCAL lock_timeout = '2s'"
_RANGES = "USING brin (last_seq) WITH (autosummarize = on)"
# Old partitions first: batches write to the newest.
_WITHOUT_RANGES = """
    SELECT p.relname FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhrelid
    WHERE i.inhparent = to_regclass('event') AND NOT EXISTS (
        SELECT 1 FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid
        JOIN pg_am a ON a.oid = c.relam WHERE x.indrelid = p.oid AND a.amname = 'brin')
    ORDER BY p.relname LIMIT 1
"""


def index_partition(connection: Connection) -> bool:
    """Make the index of one partition: batches that write to it wait while it is read once.

    Returns:
        Whether there was a partition without it.
    """
    connection.exec_driver_sql(_LOCK)
    name = connection.scalar(text(_WITHOUT_RANGES))
    if name is not None:
        connection.exec_driver_sql(f"CREATE INDEX ON {name} {_RANGES}")
    return name is not None


PREPARE = (index_partition,)


def upgrade() -> None:
    """Keep working while roles of the release before still run. No row is read.

    PostgreSQL takes the indexes of the partitions for the new one.
    """
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(_LOCK)
        connection.exec_driver_sql(f"CREATE INDEX event_last_seq_ranges ON event {_RANGES}")
        op.drop_index("event_last_seq", "event")
        connection.exec_driver_sql("ALTER INDEX event_last_seq_ranges RENAME TO event_last_seq")
    op.drop_index("edge_run_downstream", "edge_run")


def downgrade() -> None:
    """Undo `upgrade`."""
    op.create_index("edge_run_downstream", "edge_run", ["downstream_key"])
    if op.get_bind().dialect.name == "postgresql":
        op.drop_index("event_last_seq", "event")
        op.create_index("event_last_seq", "event", ["last_seq"])
