"""Add what keeps Lineward up: changes of the catalog after 0001, which stays as it is."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Each change works while roles of the release before still run."""
    with op.batch_alter_table("incident") as incident:
        incident.add_column(sa.Column("impact_count", sa.Integer(), nullable=True))
    op.create_table(
        "notification_secret",
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("mark", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("channel"),
    )
    for table in ("sli_hour", "served_hour"):
        op.create_index(f"{table}_hour", table, ["hour"])


def downgrade() -> None:
    """Undo `upgrade`, newest change first."""
    for table in ("served_hour", "sli_hour"):
        op.drop_index(f"{table}_hour", table)
    op.drop_table("notification_secret")
    with op.batch_alter_table("incident") as incident:
        incident.drop_column("impact_count")
