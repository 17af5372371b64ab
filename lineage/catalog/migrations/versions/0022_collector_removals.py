"""Store requests of operators to remove a silent collector."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Keep working while roles of the release before still run."""
    op.create_table(
        "collector_removal",
        sa.Column("collector", sa.Text(), nullable=False),
        sa.Column("heartbeat_at", sa.BigInteger(), nullable=False),
        sa.Column("requested_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("collector"),
    )


def downgrade() -> None:
    """Undo `upgrade`."""
    op.drop_table("collector_removal")
