"""Store announced retries; find the datasets that no run wrote since one failed."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_FAILING = sa.text("last_failed_at > coalesce(last_written_at, 0)")


def upgrade() -> None:
    """Keep working while roles of the release before still run.

    Runs before this release announced no retry.
    """
    op.add_column("run", sa.Column("retries_left", sa.BigInteger(), nullable=True))
    op.create_index(
        "dataset_activity_failing",
        "dataset_activity",
        ["last_failed_at"],
        sqlite_where=_FAILING,
        postgresql_where=_FAILING,
    )


def downgrade() -> None:
    """Undo `upgrade`."""
    op.drop_index("dataset_activity_failing", "dataset_activity")
    with op.batch_alter_table("run") as run:
        run.drop_column("retries_left")
