"""Window of events and rejected bodies of the spool that the shipper sends next."""

import sqlite3
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from collector.shipper.position import ShippedPosition
from lineage import origins
from lineage.input_log.records import GAP, HEARTBEAT, REJECTED, Record
from lineage.input_log.spool_tables import count_waiting

# The pipeline remembers the records of one window, to know those that are sent again.
MOST_RECORDS = 1_000
_MOST_BYTES = 8 << 20
_EVENTS = """
    SELECT seq, received_at, origin, kind, body FROM event WHERE seq > ? ORDER BY seq LIMIT ?
"""
_REJECTED = """
    SELECT id, received_at, origin, reason, body FROM rejected WHERE id > ? ORDER BY id LIMIT ?
"""
_GAPS = "SELECT started_at, ended_at FROM gap WHERE ended_at > ? ORDER BY ended_at"
_WAITING = "SELECT received_at FROM event WHERE seq > ? ORDER BY seq LIMIT 1"
_LAST = "SELECT seq FROM sqlite_sequence WHERE name = ?"


class SendWindow(msgspec.Struct, frozen=True):
    """Records to send, and the position once Kafka has all of them."""

    records: list[Record]
    position: ShippedPosition


class Backlog(msgspec.Struct, frozen=True):
    """Events that wait, and when the oldest of them was received, µs."""

    events: int
    since: int | None


def read_window(spool: sqlite3.Connection, at: ShippedPosition, collector: str) -> SendWindow:
    """Return the next window; without records where nothing waits."""
    events = list(_events(spool, at, collector))
    rejected = list(_rejected(spool, at, collector))
    gaps = list(_gaps(spool, at, collector))
    position = replace(
        at,
        seq=max((one.seq for one in events), default=at.seq),
        rejected=max((one.seq for one in rejected), default=at.rejected),
        gap_ended_at=max((one.ended_at for one in gaps), default=at.gap_ended_at),
    )
    # The pipeline knows the time behind a goodbye: others listened, or it has written the gap.
    unknown = [one for one in gaps if one.received_at != at.last_beat]
    return SendWindow([*events, *rejected, *unknown], position)


def read_heartbeat(spool: sqlite3.Connection, collector: str) -> Record | None:
    """Return the collector's last heartbeat; None before the first one."""
    row = spool.execute("SELECT beat_at FROM heartbeat").fetchone()
    return None if row is None else Record(kind=HEARTBEAT, collector=collector, received_at=row[0])


def read_backlog(spool: sqlite3.Connection, at: ShippedPosition) -> Backlog:
    """Return what waits behind the position."""
    oldest = spool.execute(_WAITING, (at.seq,)).fetchone()
    return Backlog(count_waiting(spool, at.seq), oldest and oldest[0])


def last_given(spool: sqlite3.Connection, table: str) -> int:
    """Return the last number that the spool gave out in this table."""
    row = spool.execute(_LAST, (table,)).fetchone()
    return 0 if row is None else int(row[0])


def _events(spool: sqlite3.Connection, at: ShippedPosition, collector: str) -> Iterator[Record]:
    size = 0
    for seq, received_at, origin, kind, body in spool.execute(_EVENTS, (at.seq, MOST_RECORDS)):
        if size and size + len(body) > _MOST_BYTES:
            return
        size += len(body)
        given = {"seq": seq, "window": at.window, "origin": origin, "body": body}
        yield Record(kind=kind, collector=collector, received_at=received_at, **given)


def _rejected(spool: sqlite3.Connection, at: ShippedPosition, collector: str) -> Iterator[Record]:
    """Yield rejected bodies, and one record for those that were pruned before they were read."""
    before = at.rejected
    for number, received_at, origin, reason, body in spool.execute(_REJECTED, (before, 100)):
        given = {"seq": number, "window": at.window, "origin": origin}
        rejected = Record(
            kind=REJECTED,
            collector=collector,
            received_at=received_at,
            reason=reason,
            body=body,
            **given,
        )
        if number > before + 1:
            missing = number - before - 1
            yield replace(
                rejected,
                seq=number - 1,
                reason="pruned",
                count=missing,
                origin=origins.HTTP,
                body=b"",
            )
        yield rejected
        before = number


def _gaps(spool: sqlite3.Connection, at: ShippedPosition, collector: str) -> Iterator[Record]:
    for started_at, ended_at in spool.execute(_GAPS, (at.gap_ended_at,)):
        yield Record(kind=GAP, collector=collector, received_at=started_at, ended_at=ended_at)
