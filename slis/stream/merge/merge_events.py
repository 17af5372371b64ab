"""Events of a batch, each stored once."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, text

from lineage.catalog import tables
from lineage.catalog.upsert import upsert
from slis.stream.merge.repeats import query_for, staged_columns
from slis.stream.reading.problems import CORE_UNREADABLE
from slis.stream.staging import staging
from slis.stream.staging.staging import StagedRows

STAGED: Final = "s_event"
# Of events of which some are stored, or of which the batch has one several times.
EVENT_QUERY: Final = f"""
    SELECT event_time, event_key, :landed_at AS landed_at, :last_seq AS last_seq,
        max(is_streaming) = 1 AS is_streaming, min(is_history) = 1 AS is_history,
        max(is_skewed) = 1 AS is_skewed
    FROM {STAGED}
    WHERE event_time IS NOT NULL AND problem IS NULL OR problem <> '{CORE_UNREADABLE}'
    GROUP BY event_time, event_key
"""  # noqa: S608 - our own names
_KEEPS: Final = "landed_at last_seq is_streaming is_history is_skewed"
_NEAR: Final = text("""
    SELECT event_time, event_key FROM event WHERE event_time BETWEEN :first AND :last LIMIT :most
""")
_COLUMNS: Final = (
    *("event_time", "event_key", "is_streaming", "is_history", "is_skewed"),
    *("landed_at", "last_seq"),
)
_Row = tuple[Any, ...]


class StoredEvents(msgspec.Struct, frozen=True):
    """Numbers of events of a batch.

    Attributes:
        new: that the catalog did not have.
        unreadable: without a core.
        history: of a history load.
    """

    new: int
    unreadable: int
    history: int


def store_events(
    connection: Connection, rows: StagedRows, *, landed_at: int, last_seq: int, has_repeats: bool
) -> StoredEvents:
    """Store the events of the batch.

    Args:
        connection: inside the transaction of the batch.
        rows: of the batch.
        landed_at: of the new ones.
        last_seq: of the batch.
        has_repeats: whether the batch has an event several times.
    """
    problems = [problem for (problem,) in staged_columns(rows, STAGED, "problem")]
    histories = [is_history for (is_history,) in staged_columns(rows, STAGED, "is_history")]
    readable = _readable_events(rows)
    known = None if has_repeats else _find_known(connection, readable)
    if known is None:
        stored = _fold_all(connection, rows, landed_at, last_seq, has_repeats=has_repeats)
    else:
        new = [(*each, landed_at, last_seq) for each in readable if each[:2] not in known]
        staging.insert_rows(connection, tables.event, _COLUMNS, new)
        stored = len(new)
    return StoredEvents(stored, problems.count(CORE_UNREADABLE), sum(histories))


def _readable_events(rows: StagedRows) -> list[_Row]:
    """Return the rows of `event`, without the columns of the batch."""
    return [
        (event_time, key, is_streaming == 1, is_history == 1, is_skewed == 1)
        for event_time, key, is_streaming, is_history, is_skewed, problem in staged_columns(
            rows, STAGED, *_COLUMNS[:5], "problem"
        )
        if problem != CORE_UNREADABLE and (event_time is not None or problem is not None)
    ]


def _find_known(connection: Connection, events: Sequence[_Row]) -> set[tuple[int, int]] | None:
    """Return the keys of the events that are stored; None where more are near than the batch has.

    A batch that follows the one before finds few events of its time. One that repeats a year of
    them finds more than it has itself.
    """
    if not events:
        return set()
    times = [each[0] for each in events]
    most = len(events) + 1
    near = connection.execute(_NEAR, {"first": min(times), "last": max(times), "most": most}).all()
    return {(event_time, key) for event_time, key in near} if len(near) < most else None


def _fold_all(
    connection: Connection, rows: StagedRows, landed_at: int, last_seq: int, *, has_repeats: bool
) -> int:
    """Look each event up by its key; return how many are new."""
    staging.fill(connection, {STAGED: rows[STAGED]})
    query = query_for(EVENT_QUERY, has_repeats=has_repeats)
    given = {"landed_at": landed_at, "last_seq": last_seq}
    return upsert(connection, tables.event, query, {}, keeps=_KEEPS, given=given)
