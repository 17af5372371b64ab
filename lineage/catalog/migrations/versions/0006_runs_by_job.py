"""Find the runs of a job by its own name, without a look at all runs."""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Keep working while roles of the release before still run."""
    op.create_index("run_job", "run", ["job_name", "first_event_at"])


def downgrade() -> None:
    """Undo `upgrade`."""
    op.drop_index("run_job", "run")
