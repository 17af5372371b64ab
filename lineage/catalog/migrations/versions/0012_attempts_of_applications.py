"""Store each attempt of an application on YARN as an application of its own."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_LATER_ATTEMPT = sa.text("attempt_of IS NOT NULL")


def upgrade() -> None:
    """Keep working while roles of the release before still run.

    What is stored of second attempts stays with the first attempt.
    """
    op.add_column("application", sa.Column("attempt_of", sa.Text(), nullable=True))
    op.create_index(
        "application_attempt_of",
        "application",
        ["attempt_of", "started_at"],
        sqlite_where=_LATER_ATTEMPT,
        postgresql_where=_LATER_ATTEMPT,
    )


def downgrade() -> None:
    """Undo `upgrade`."""
    op.drop_index("application_attempt_of", "application")
    with op.batch_alter_table("application") as application:
        application.drop_column("attempt_of")
