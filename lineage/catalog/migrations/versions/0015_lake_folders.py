"""Add the lake's manifest, and the epoch of the pipeline.

Folders of a lake that exists get their rows when the pipeline starts: a migration may run where no
lake is.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Keep working while roles of the release before still run."""
    op.create_table(
        "role_epoch",
        sa.Column("role", sa.Text, primary_key=True),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("began_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "lake_folder",
        sa.Column("path", sa.Text, primary_key=True),
        sa.Column("batch", sa.Text, nullable=False),
        sa.Column("event_date", sa.Text, nullable=False),
        sa.Column("first_seq", sa.BigInteger, nullable=False),
        sa.Column("last_seq", sa.BigInteger, nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("is_compacted", sa.Boolean, nullable=False),
        sa.Column("names", sa.Text, nullable=False),
        sa.Column("files", sa.BigInteger, nullable=False),
        sa.Column("events", sa.BigInteger, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("deleted_at", sa.BigInteger),
    )
    op.create_index("lake_folder_batch", "lake_folder", ["batch"])
    op.create_index("lake_folder_day", "lake_folder", ["event_date"])
    op.create_index("lake_folder_deleted", "lake_folder", ["deleted_at"])


def downgrade() -> None:
    """Undo `upgrade`."""
    op.drop_table("lake_folder")
    op.drop_table("role_epoch")
