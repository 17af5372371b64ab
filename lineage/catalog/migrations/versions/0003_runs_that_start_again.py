"""Add the times by which a run that was started again is told from one that failed."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_COLUMNS = ("restarted_at", "fail_told_at")


def upgrade() -> None:
    """Each change works while roles of the release before still run.

    Runs of before have neither time: they have failed as they had.
    """
    with op.batch_alter_table("run") as run:
        for column in _COLUMNS:
            run.add_column(sa.Column(column, sa.BigInteger(), nullable=True))


def downgrade() -> None:
    """Undo `upgrade`."""
    with op.batch_alter_table("run") as run:
        for column in reversed(_COLUMNS):
            run.drop_column(column)
