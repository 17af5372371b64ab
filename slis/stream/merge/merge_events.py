"""Events of a batch, each stored once."""

from typing import Any, Final

import msgspec
from sqlalchemy import Connection, Row, text

from lineage.catalog import tables
from lineage.catalog.new_rows import insert_or_fold
from lineage.catalog.upsert import upsert
from slis.stream.merge.repeats import query_for

_COUNT = text("""
    SELECT count(*) AS events, min(event_time) AS first, max(event_time) AS last,
        coalesce(sum(CASE WHEN problem = 'core_unreadable' THEN 1 END), 0) AS unreadable,
        coalesce(sum(CASE WHEN is_history = 1 THEN 1 END), 0) AS history
    FROM s_event
""")
EVENT_QUERY: Final = """
    SELECT event_time, event_key, :landed_at AS landed_at, :last_seq AS last_seq,
        max(is_streaming) = 1 AS is_streaming, min(is_history) = 1 AS is_history,
        max(is_skewed) = 1 AS is_skewed
    FROM s_event
    WHERE (event_time IS NOT NULL AND problem IS NULL OR problem <> 'core_unreadable')
        AND {chosen}
    GROUP BY event_time, event_key
"""
_KEEPS: Final = "landed_at last_seq is_streaming is_history is_skewed"
_OF_ITS_TIME: Final = "FROM event WHERE event_time BETWEEN :first AND :last"
_COUNT_STORED = text(f"SELECT count(*) FROM (SELECT 1 {_OF_ITS_TIME} LIMIT :most) AS stored")  # noqa: S608
_STORE_KNOWN = text(
    f"INSERT INTO t_known_event (event_time, event_key) SELECT event_time, event_key {_OF_ITS_TIME}"
)
# `NOT IN` of several columns makes SQLite compare each event with each.
_IS_KNOWN: Final = """
    EXISTS (SELECT 1 FROM t_known_event k
        WHERE k.event_time = s_event.event_time AND k.event_key = s_event.event_key)
"""


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
    connection: Connection, *, landed_at: int, last_seq: int, has_repeats: bool
) -> StoredEvents:
    """Store the events of the batch.

    Args:
        connection: inside the transaction of the batch.
        landed_at: of the new ones.
        last_seq: of the batch.
        has_repeats: whether the batch has an event several times.
    """
    counted = connection.execute(_COUNT).one()
    at = {"landed_at": landed_at, "last_seq": last_seq}
    query = query_for(EVENT_QUERY, has_repeats=has_repeats)
    return StoredEvents(_store(connection, query, counted, at), counted.unreadable, counted.history)


def _store(connection: Connection, query: str, counted: Row[Any], at: dict[str, int]) -> int:
    """Store the events, and return how many are new.

    A batch that follows the one before finds few events of its time. One that repeats a year of
    them looks each up by its key.
    """
    span = {"first": counted.first, "last": counted.last}
    most = counted.events + 1
    near: int = connection.execute(_COUNT_STORED, {**span, "most": most}).scalar_one()
    if near == most:
        every = query.format(chosen="1 = 1")
        return upsert(connection, tables.event, every, {}, keeps=_KEEPS, given=at)
    if near:
        connection.execute(_STORE_KNOWN, span)
    known: dict[str, Any] = {"known": _IS_KNOWN, "is_any_known": near > 0}
    return insert_or_fold(connection, tables.event, query, {}, keeps=_KEEPS, given=at, **known)
