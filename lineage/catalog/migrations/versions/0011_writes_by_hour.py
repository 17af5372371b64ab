"""Give recent writes the key of the hour in which their root run wrote."""

from alembic import op

revision = "0011"
down_revision = "0010"

_HOUR = 3_600_000_000
_RECENT = 8 * 24 * _HOUR
# Until now, 0 stood for all that a root run wrote. Only the last of it is stored, with its time.
# Older writes keep 0: no event takes them back any more, and 2 million rows took 100 s, for which
# no role starts.
_BY_HOUR = f"""
    UPDATE dataset_write SET bucket = written_at / {_HOUR} * {_HOUR} + 1 WHERE bucket = 0
    AND written_at > (SELECT coalesce(max(landed_at), 0) FROM batch) - {_RECENT}
"""  # noqa: S608 - numbers
# The newest write of each root run stands for all of them.
_DROP_EARLIER = f"""
    DELETE FROM dataset_write WHERE (bucket = 0 OR bucket <> bucket / {_HOUR} * {_HOUR})
    AND EXISTS (
        SELECT 1 FROM dataset_write w WHERE w.dataset_key = dataset_write.dataset_key
        AND w.root_run_id = dataset_write.root_run_id AND w.bucket > dataset_write.bucket
        AND w.bucket <> w.bucket / {_HOUR} * {_HOUR})
"""  # noqa: S608 - a number
_BY_ROOT_RUN = f"UPDATE dataset_write SET bucket = 0 WHERE bucket <> bucket / {_HOUR} * {_HOUR}"  # noqa: S608


def upgrade() -> None:
    """Let a later failure of a stored write find it by its hour."""
    op.execute(_BY_HOUR)


def downgrade() -> None:
    """Undo `upgrade`."""
    op.execute(_DROP_EARLIER)
    op.execute(_BY_ROOT_RUN)
