"""Add what keeps Lineward up: changes of the catalog after 0001, which stays as it is."""

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Each change works while roles of the release before still run."""


def downgrade() -> None:
    """Undo `upgrade`, newest change first."""
