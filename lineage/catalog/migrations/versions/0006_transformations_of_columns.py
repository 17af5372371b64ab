"""Add how a column is made of another, and find the columns that feed a column by an index."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Keep working while roles of the release before still run.

    Column edges stored before have no transformations until an event reports them again.
    """
    op.add_column("column_edge", sa.Column("transformations", sa.Text(), nullable=True))
    op.create_index("column_edge_downstream", "column_edge", ["downstream_key", "downstream_field"])


def downgrade() -> None:
    """Undo `upgrade`."""
    op.drop_index("column_edge_downstream", "column_edge")
    with op.batch_alter_table("column_edge") as column_edge:
        column_edge.drop_column("transformations")
