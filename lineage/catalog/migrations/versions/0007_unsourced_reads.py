"""Find the reads that were counted without a source, which are few, by time."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_UNSOURCED = sa.text("outcome = 'bad'")


def upgrade() -> None:
    """Keep working while roles of the release before still run."""
    op.create_index(
        "dataset_read_unsourced",
        "dataset_read",
        ["read_at"],
        sqlite_where=_UNSOURCED,
        postgresql_where=_UNSOURCED,
    )


def downgrade() -> None:
    """Undo `upgrade`."""
    op.drop_index("dataset_read_unsourced", "dataset_read")
