"""Store edges from facets of runs that name no inputs, and folders of files."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
_INFERRED = sa.text("origin IS NOT NULL")
_IN_FOLDER = sa.text("folder_key IS NOT NULL")


def upgrade() -> None:
    """Keep working while roles of the release before still run.

    Edges stored before have no origin, as edges that inputs name. A file gets its folder when an
    event names the file again.
    """
    op.add_column("dataset", sa.Column("folder_key", sa.BigInteger(), nullable=True))
    op.create_index(
        "dataset_folder",
        "dataset",
        ["folder_key"],
        sqlite_where=_IN_FOLDER,
        postgresql_where=_IN_FOLDER,
    )
    op.create_table(
        "inferred_input",
        *(
            sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=False)
            for name in ("run_key", "downstream_key", "upstream_key")
        ),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("upstream_namespace", sa.Text(), nullable=False),
        sa.Column("upstream_name", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("run_key", "downstream_key", "upstream_key", "origin"),
        sqlite_with_rowid=False,
    )
    op.create_index("inferred_input_seen", "inferred_input", ["seen_at"])
    for table in ("edge", "edge_run"):
        op.add_column(table, sa.Column("origin", sa.Text(), nullable=True))
    op.add_column("edge", sa.Column("declared_at", sa.BigInteger(), nullable=True))
    op.execute("UPDATE edge SET declared_at = last_seen_at WHERE runs = 0")
    op.create_index(
        "edge_inferred",
        "edge",
        ["downstream_key"],
        sqlite_where=_INFERRED,
        postgresql_where=_INFERRED,
    )
    op.create_index("edge_run_downstream", "edge_run", ["downstream_key"])


def downgrade() -> None:
    """Undo `upgrade`."""
    op.drop_index("edge_run_downstream", "edge_run")
    op.drop_index("edge_inferred", "edge")
    with op.batch_alter_table("edge") as edge:
        edge.drop_column("declared_at")
    for table in ("edge_run", "edge"):
        with op.batch_alter_table(table) as altered:
            altered.drop_column("origin")
    op.drop_table("inferred_input")
    op.drop_index("dataset_folder", "dataset")
    with op.batch_alter_table("dataset") as dataset:
        dataset.drop_column("folder_key")
