"""Add the times that distinguish a run that was started again from a failed one."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_COLUMNS = ("last_start_at", "last_fail_at")


def upgrade() -> None:
    """Keep working while roles of the release before still run.

    Runs stored before have neither time. Their failures stay as they are.
    """
    with op.batch_alter_table("run") as run:
        for column in _COLUMNS:
            run.add_column(sa.Column(column, sa.BigInteger(), nullable=True))


def downgrade() -> None:
    """Undo `upgrade`."""
    with op.batch_alter_table("run") as run:
        for column in reversed(_COLUMNS):
            run.drop_column(column)
