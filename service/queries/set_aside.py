"""Events that the pipeline set aside because they failed alone."""

from typing import Final

import msgspec

from lineage.catalog.reader import CatalogReader
from lineage.catalog.rows import Row
from service.queries.cursors import Whole, cursor_of, start_key
from service.queries.run_shapes import IsoTime
from service.queries.timestamps import iso

MOST_SET_ASIDE: Final = 1_000
_MOST_CHARACTERS: Final = 1_000  # of an error: Spark quotes whole plans in one line
_FROM = "FROM event_set_aside e LEFT JOIN event_requeue q ON q.spool_seq = e.spool_seq"
_WANTED = f"{_FROM} WHERE (:every = 1 OR q.spool_seq IS NULL)"
_COUNTED = f"SELECT count(*) {_WANTED}"
_LISTED = f"""
SELECT e.spool_seq, e.failed_at, e.received_at, e.origin, e.kind, e.bytes, e.error, e.producer,
  e.job_namespace, e.job_name, e.run_id, q.requested_at AS requeued_at
{_WANTED}
  AND (CAST(:before AS BIGINT) IS NULL OR e.spool_seq < CAST(:before AS BIGINT))
ORDER BY e.spool_seq DESC LIMIT :most
"""


class SetAsideEvent(msgspec.Struct, frozen=True):
    """Event that failed alone; its body is in the lake.

    Attributes:
        spool_seq: sequence number in the spool, by which the event is requeued.
        bytes: of the body.
        error: first line of the error that the event failed with.
        producer: null where the body does not say; likewise job and run.
        requeued_at: when the event was posted again; null: not yet.
    """

    spool_seq: int
    failed_at: IsoTime | None
    received_at: IsoTime | None
    origin: str
    kind: str
    bytes: int
    error: str
    producer: str | None
    job_namespace: str | None
    job_name: str | None
    run_id: str | None
    requeued_at: IsoTime | None


class SetAsidePage(msgspec.Struct, frozen=True):
    """Page of events, newest first; `next_cursor` leads to older ones, `total` counts all."""

    events: list[SetAsideEvent]
    total: int
    partial: bool
    partial_reason: str | None
    next_cursor: str | None


def list_set_aside_events(
    reader: CatalogReader,
    *,
    with_requeued: bool = False,
    limit: int = 100,
    cursor: str | None = None,
) -> SetAsidePage:
    """Return at most `limit` events.

    Args:
        reader: of the catalog.
        with_requeued: also events that were posted again.
        limit: at most so many.
        cursor: of the page before.

    Raises:
        InvalidRequestError: the cursor belongs to another question, or to none.
    """
    question = "set_aside", with_requeued
    (before,) = start_key(cursor, question, tuple[Whole]) or (None,)
    wanted = {"every": int(with_requeued)}
    total: int = reader.rows(_COUNTED, wanted)[0][0]
    found = reader.rows(_LISTED, wanted | {"before": before, "most": limit + 1})
    events = [_event(row) for row in found[:limit]]
    is_more = len(found) > limit
    is_cut = len(events) < total
    return SetAsidePage(
        events,
        total,
        partial=is_cut,
        partial_reason=f"{len(events):,} of {total:,} shown" if is_cut else None,
        next_cursor=cursor_of(question, (events[-1].spool_seq,)) if is_more else None,
    )


def count_set_aside(reader: CatalogReader) -> int:
    """Return how many events are set aside and were not posted again."""
    [[count]] = reader.rows(_COUNTED, {"every": 0})
    return int(count)


def _event(row: Row) -> SetAsideEvent:
    times = {name: iso(getattr(row, name)) for name in ("failed_at", "received_at", "requeued_at")}
    error = row.error.strip().partition("\n")[0][:_MOST_CHARACTERS]
    return SetAsideEvent(**row._asdict() | times | {"error": error})
