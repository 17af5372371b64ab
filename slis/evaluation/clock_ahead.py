"""Deletion of catalog rows from the future, after the clock was ahead and is right again."""

from datetime import datetime, timedelta
from typing import Final

import structlog
from sqlalchemy import Connection, Engine, text

from lineage.catalog.engine import exclusive_transaction
from lineage.process.clock import instant_text, to_micros

log = structlog.get_logger(__name__)

# Clocks of two pipelines may differ by seconds; a producer's by 5 minutes.
_EVALUATION_TOLERANCE: Final = timedelta(seconds=10)
_FACT_TOLERANCE: Final = timedelta(minutes=5)
# Long enough ago that nobody takes the last figures for those of now.
_LONG_AGO: Final = timedelta(minutes=10)

_LAST_AHEAD = "SELECT max(as_of), max(last_seq), count(*) FROM evaluation WHERE as_of > :limit"
_FACT_AHEAD = "SELECT 1 FROM dataset_activity WHERE {any} LIMIT 1"
_UNDO = "DELETE FROM evaluation WHERE as_of > :limit"
# What the undone evaluations counted stays counted: none of it is counted again.
_COUNTED = """
    UPDATE evaluation SET last_seq = CASE WHEN last_seq < :seq THEN :seq ELSE last_seq END
    WHERE as_of = (SELECT max(as_of) FROM evaluation)
"""
_BEGIN = """
    INSERT INTO evaluation (as_of, previous_as_of, last_seq, policy_hash, datasets, seconds)
    VALUES (:at, NULL, :seq, '', 0, 0)
"""
_ACTIVITY = (
    "last_written_at",
    "last_read_at",
    "last_failed_at",
    "last_dropped_at",
    "last_started_at",
)
# When they happened is not known, but that it was before now.
_FACTS: Final = {
    "dataset_activity": ("last_write_landed_at", *_ACTIVITY),
    "dataset_write": ("written_at", "landed_at"),
    "dataset_read": ("read_at", "landed_at"),
    "dataset": ("first_seen_at", "last_seen_at"),
    "dataset_limit": ("learned_at",),
    "batch": ("landed_at",),
}


def undo_ahead(engine: Engine, now: datetime) -> bool:
    """Undo evaluations ahead of the clock, and bring facts ahead of it back to now.

    Such an evaluation would be the last one until its time comes, and such a write would keep its
    dataset good for as long.

    Returns:
        Whether anything was ahead.
    """
    limit = to_micros(now + _EVALUATION_TOLERANCE)
    facts_limit = to_micros(now + _FACT_TOLERANCE)
    is_any = _FACT_AHEAD.format(any=" OR ".join(f"{name} > :limit" for name in _ACTIVITY))
    with engine.connect() as connection:
        last, seq, count = connection.execute(text(_LAST_AHEAD), {"limit": limit}).one()
        has_facts = connection.execute(text(is_any), {"limit": facts_limit}).first() is not None
    if not count and not has_facts:
        return False
    with exclusive_transaction(engine) as connection:
        if count:
            _undo_evaluations(connection, now, limit, seq)
        facts = _bring_back(connection, to_micros(now), facts_limit)
    latest = None if last is None else instant_text(last)
    log.warning("clock_was_ahead", evaluations_undone=count, latest=latest, facts_moved=facts)
    return True


def _undo_evaluations(connection: Connection, now: datetime, limit: int, seq: int) -> None:
    connection.execute(text(_UNDO), {"limit": limit})
    if connection.execute(text(_COUNTED), {"seq": seq}).rowcount == 0:
        given = {"at": to_micros(now - _LONG_AGO), "seq": seq}
        connection.execute(text(_BEGIN), given)
    state = "UPDATE dataset_state SET since = :now WHERE since > :now"
    connection.execute(text(state), {"now": to_micros(now)})


def _bring_back(connection: Connection, now: int, limit: int) -> int:
    statements = (
        f"UPDATE {table} SET {name} = :now WHERE {name} > :limit"  # noqa: S608 - our own names
        for table, names in _FACTS.items()
        for name in names
    )
    given = {"now": now, "limit": limit}
    return sum(connection.execute(text(each), given).rowcount for each in statements)
