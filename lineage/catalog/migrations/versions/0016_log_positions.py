"""Store the position in the Kafka log, and the heartbeats of several collectors."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Keep working while roles of the release before still run."""
    op.create_table(
        "log_position",
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("partition", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("next_offset", sa.BigInteger(), nullable=False),
        sa.Column("end_offset", sa.BigInteger(), nullable=False),
        sa.Column("windows", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("topic", "partition"),
    )
    op.create_table(
        "log_collector",
        sa.Column("collector", sa.Text(), nullable=False),
        sa.Column("heartbeat_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("collector"),
    )


def downgrade() -> None:
    """Undo `upgrade`."""
    op.drop_table("log_collector")
    op.drop_table("log_position")
