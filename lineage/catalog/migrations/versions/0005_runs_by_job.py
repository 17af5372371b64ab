"""Add the index by which jobs are listed under their own names, and runs of each."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_NAMESPACE_PART = "substr(job_namespace, 1, 100)"


def upgrade() -> None:
    """Keep working while roles of the release before still run."""
    op.create_index("run_job", "run", [sa.text(_NAMESPACE_PART), "job_name", "first_event_at"])


def downgrade() -> None:
    """Undo `upgrade`."""
    op.drop_index("run_job", "run")
