"""Note each dataset whose facts, policy, limit or edges change, and keep what was judged of it.

Triggers write the notes, so that no statement that changes a dataset can forget one.
"""

from collections.abc import Iterator
from typing import Final

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"

_LOCK: Final = "SET LOCAL lock_timeout = '2s'"
_WATCHED: Final = sa.text("is_watched")
# The columns that an evaluation reads: of a table whose rows change for other reasons as well.
_READ: Final = {
    "dataset": ("namespace", "name", "canonical_key", "first_seen_at", "retired_at"),
    "dataset_activity": (
        *("last_written_at", "last_write_root_run_id", "last_write_names_input"),
        *("last_write_is_reported", "last_write_is_streaming", "last_job_namespace"),
        *("last_job_name", "last_read_at", "last_failed_at", "last_failed_run_id"),
        *("last_failure", "last_started_at"),
    ),
    "dataset_policy": (
        *("tier", "tier_origin", "is_source", "is_generated", "is_streaming", "is_declared"),
        *("is_expected", "declared_limit_seconds", "plan"),
    ),
    "dataset_limit": (
        *("limit_seconds", "cadence_seconds", "cadence_class", "duration_seconds", "gaps"),
    ),
}
_KEY: Final = "dataset_key"
_NOTE: Final = "INSERT INTO dataset_change (dataset_key) VALUES ({key}) ON CONFLICT DO NOTHING"
# An edge is expected from its third run on (`lineage.policy.tiers.MIN_RUNS`).
_EDGE_CHANGES: Final = "(OLD.runs >= 3) <> (NEW.runs >= 3)"
_FUNCTION: Final = """
    CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        {note};
        RETURN NULL;
    END $$
"""
# (suffix, event, row that has the key)
_EVENTS: Final = (
    ("added", "INSERT", "NEW"),
    ("changed", "UPDATE", "NEW"),
    ("gone", "DELETE", "OLD"),
)


def _triggers(different: str) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield name, table, event, condition and key of each trigger.

    Args:
        different: how the database compares two values of which either may be null.
    """
    for table, columns in _READ.items():
        changes = " OR ".join(f"OLD.{name} {different} NEW.{name}" for name in columns)
        for suffix, event, row in _EVENTS:
            when = f"WHEN ({changes})" if event == "UPDATE" else ""
            yield f"{table}_{suffix}", table, event, when, f"{row}.{_KEY}"
    for suffix, event, row in _EVENTS:
        when = f"WHEN ({_EDGE_CHANGES})" if event == "UPDATE" else ""
        yield f"edge_{suffix}", "edge", event, when, f"{row}.downstream_key"


def _create_in_sqlite() -> Iterator[str]:
    for name, table, event, when, key in _triggers("IS NOT"):
        yield f"""
            CREATE TRIGGER {name} AFTER {event} ON {table} FOR EACH ROW {when}
            BEGIN {_NOTE.format(key=key)}; END
        """


def _create_in_postgresql() -> Iterator[str]:
    yield _LOCK
    for key in (f"NEW.{_KEY}", f"OLD.{_KEY}", "NEW.downstream_key", "OLD.downstream_key"):
        yield _FUNCTION.format(name=_function(key), note=_NOTE.format(key=key))
    for name, table, event, when, key in _triggers("IS DISTINCT FROM"):
        yield f"""
            CREATE TRIGGER {name} AFTER {event} ON {table} FOR EACH ROW {when}
            EXECUTE FUNCTION {_function(key)}()
        """


def _function(key: str) -> str:
    return f"note_change_{key.replace('.', '_').lower()}"


def upgrade() -> None:
    """Keep working while roles of the release before still run."""
    op.create_table(
        "dataset_change",
        sa.Column(_KEY, sa.BigInteger(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint(_KEY),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "dataset_judgement",
        sa.Column(_KEY, sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("next_change_at", sa.BigInteger(), nullable=True),
        sa.Column("tier", sa.Text(), nullable=False),
        sa.Column("tier_origin", sa.Text(), nullable=False),
        sa.Column("is_source", sa.Boolean(), nullable=False),
        sa.Column("coverage", sa.Text(), nullable=True),
        sa.Column("freshness", sa.Text(), nullable=False),
        sa.Column("is_watched", sa.Boolean(), nullable=False),
        sa.Column("near_key", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint(_KEY),
        sqlite_with_rowid=False,
    )
    op.create_index("dataset_judgement_next", "dataset_judgement", ["next_change_at"])
    op.create_index("dataset_judgement_near", "dataset_judgement", ["near_key"])
    op.create_index(
        *("dataset_judgement_watched", "dataset_judgement", [_KEY]),
        sqlite_where=_WATCHED,
        postgresql_where=_WATCHED,
    )
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for statement in _create_in_sqlite() if is_sqlite else _create_in_postgresql():
        op.execute(statement)


def downgrade() -> None:
    """Undo `upgrade`."""
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for name, table, *_ in _triggers(""):
        op.execute(f"DROP TRIGGER {name}" + ("" if is_sqlite else f" ON {table}"))
    if not is_sqlite:
        for key in (f"NEW.{_KEY}", f"OLD.{_KEY}", "NEW.downstream_key", "OLD.downstream_key"):
            op.execute(f"DROP FUNCTION IF EXISTS {_function(key)}()")
    op.drop_table("dataset_judgement")
    op.drop_table("dataset_change")
