"""Find the runs of a root run that completed within an hour."""

from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Keep working while roles of the release before still run."""
    op.create_index("run_completed", "run", ["root_run_id", "completed_at"])


def downgrade() -> None:
    """Undo `upgrade`."""
    op.drop_index("run_completed", "run")
