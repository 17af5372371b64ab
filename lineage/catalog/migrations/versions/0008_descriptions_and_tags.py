"""Store descriptions, tags of columns and runs, and the source of a tag."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Keep working while roles of the release before still run.

    What events before this release described is unknown until an event describes it again.
    """
    op.create_table(
        "description",
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("subject_key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("last_seen_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("subject", "subject_key"),
    )
    op.create_table(
        "field_tag",
        sa.Column("dataset_key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("tag_key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("field", sa.Text(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("last_seen_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("dataset_key", "tag_key"),
    )
    op.add_column("tag", sa.Column("source", sa.Text(), nullable=True))
    op.add_column("run", sa.Column("tags", sa.Text(), nullable=True))


def downgrade() -> None:
    """Undo `upgrade`."""
    with op.batch_alter_table("run") as run:
        run.drop_column("tags")
    with op.batch_alter_table("tag") as tag:
        tag.drop_column("source")
    op.drop_table("field_tag")
    op.drop_table("description")
