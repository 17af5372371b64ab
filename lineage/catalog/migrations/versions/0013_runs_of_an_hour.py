"""Find the runs of a root run that completed within an hour."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

_COMPLETED = sa.text("completed_at IS NOT NULL")


def upgrade() -> None:
    """Keep working while roles of the release before still run."""
    op.create_index(
        "run_completed",
        "run",
        ["root_run_id", "completed_at"],
        sqlite_where=_COMPLETED,
        postgresql_where=_COMPLETED,
    )


def downgrade() -> None:
    """Undo `upgrade`."""
    op.drop_index("run_completed", "run")
