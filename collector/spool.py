"""Spool: the file in which an event is durable before its sender gets a response.

One thread owns the one writing connection. It takes everything that waits, commits once (fsync),
and then answers all of it: group commit makes an fsync's cost a batch's, not an event's.
"""

import contextlib
import hashlib
import itertools
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from collector.damage import is_damage
from collector.events import ValidEvent
from collector.high_water import high_water_of
from collector.retention import SpoolRetention
from collector.settings import Limits
from collector.spool_file import last_seq, open_spool, spool_losses
from collector.writes import Observer, Rejected, SpoolRow, WriteRequest
from lineage.process.clock import SECOND_MICROS, Clock, to_micros
from lineage.process.disk import is_out_of_room

_T = TypeVar("_T")
BEAT_SECONDS = 1.0
GAP_AFTER_SECONDS = 3.0
_MAX_GROUP = 2_000
_PRUNE_SECONDS = 0.1
_ROWS_A_STATEMENT = 256
_INSERT_EVENTS = """
INSERT INTO event (body_hash, received_at, origin, kind, duplicate_keys, body) VALUES
"""
_STORED = "SELECT body_hash FROM event WHERE body_hash IN"
_INSERT_REJECTED = """
INSERT INTO rejected (received_at, origin, reason, path, detail, body, body_bytes)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
# Of that body alone: a number by itself would let a sender strike off what others sent.
STRIKE_REJECTED = "DELETE FROM rejected WHERE id = ? AND body = ?"


class Spool:
    """Writer of the spool's file."""

    def __init__(self, path: Path, limits: Limits, clock: Clock, observer: Observer) -> None:
        self._folder = path.parent
        self._limits = limits
        self._clock = clock
        self._observer = observer
        self._queue: queue.SimpleQueue[tuple[WriteRequest, ...] | None] = queue.SimpleQueue()
        self._connection = open_spool(path, limits.max_spool_bytes)
        self._high_water = high_water_of(path)
        self.losses = spool_losses(self._connection)
        self.retention = SpoolRetention(self._connection, limits, clock)
        self._pruned_at = 0.0
        self._beat_at = 0.0
        self._thread = threading.Thread(target=self._run, name="spool-writer")
        self.broken = threading.Event()
        self.damaged = threading.Event()

    def start(self) -> None:
        """Write down the gap since the last beat, and start to take events."""
        self._transaction(self._beat)
        self._high_water.write(last_seq(self._connection))
        self._thread.start()

    def stop(self) -> None:
        """Commit what waits, and close the file."""
        self._queue.put(None)
        self._thread.join()
        self._connection.close()
        self._high_water.close()

    def suspect(self) -> None:
        """Have a new process look through the whole file: somebody could not read it."""
        self.damaged.set()
        self.broken.set()

    def event_row(self, event: ValidEvent, origin: str) -> SpoolRow:
        """Return the row of an event; by its SHA-256, a byte-identical repeat is the same row."""
        digest = hashlib.sha256(event.body).digest()
        now = to_micros(self._clock())
        return digest, now, origin, event.kind, event.duplicate_keys, event.body

    def rejected_row(self, rejected: Rejected) -> SpoolRow:
        """Return the row of a rejected body."""
        body = rejected.body[: self._limits.max_rejected_bytes]
        now = to_micros(self._clock())
        columns = (rejected.origin, rejected.reason, rejected.path, rejected.detail)
        return now, *columns, body, rejected.body_bytes

    def submit(self, *writes: WriteRequest) -> None:
        """Queue rows; the observer is called when they are durable, or when they failed."""
        self._queue.put(writes)
        # The writer may have emptied the queue for the last time just before.
        if self.broken.is_set():
            self._fail_the_rest([])

    def _run(self) -> None:
        group: list[WriteRequest] = []
        stopping = False
        try:
            while not (stopping or self.broken.is_set()):
                group, stopping = self._take()
                self._commit(group)
                group = []
        finally:
            # However the writer ends, nobody waits for it: a new process is asked for.
            if not stopping:
                self.broken.set()
            self._fail_the_rest(group)

    def _take(self) -> tuple[list[WriteRequest], bool]:
        """Take waiting rows up to the bound; return after a second at most, for the heartbeat."""
        group: list[WriteRequest] = []
        try:
            item = self._queue.get(timeout=BEAT_SECONDS)
            while item is not None:
                group += item
                if len(group) >= _MAX_GROUP:
                    return group, False
                item = self._queue.get_nowait()
        except queue.Empty:
            return group, False
        return group, True

    def _commit(self, group: list[WriteRequest]) -> None:
        started = time.monotonic()
        try:
            stored = self._store(group)
        except sqlite3.Error as error:
            self._fail(group, error)
        else:
            if group:
                self._high_water.write(last_seq(self._connection))
            self._observer.committed(group, stored, time.monotonic() - started)
        if started - self._pruned_at >= _PRUNE_SECONDS:
            self._pruned_at = started
            self._try_to_prune()

    def _fail(self, group: list[WriteRequest], error: sqlite3.Error) -> None:
        # After a failed fsync the kernel may call the page clean: only a new process knows what is
        # on disk. A full disk, quota or spool leaves the connection as it was.
        if is_damage(error):
            self.damaged.set()
        if not is_out_of_room(error, self._folder):
            self.broken.set()
        self._observer.failed(group, error)

    def _try_to_prune(self) -> None:
        # Apart from the inserts, so that a full spool can still be emptied.
        try:
            self._transaction(self.retention.prune)
        except sqlite3.Error as error:
            self._fail([], error)

    def _fail_the_rest(self, left: list[WriteRequest]) -> None:
        error = sqlite3.OperationalError("the spool failed and is being reopened")
        with contextlib.suppress(queue.Empty):
            while True:
                item = self._queue.get_nowait()
                left += item or ()
        if left:
            self._observer.failed(left, error)

    def _transaction(self, work: Callable[[], _T]) -> _T:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            result = work()
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        return result

    def _store(self, group: list[WriteRequest]) -> int:
        events = [row for write in group for row in write.events]
        rejected = [row for write in group for row in write.rejected]
        struck = [row for write in group for row in write.struck]
        is_more = bool(rejected or struck)
        if is_more or self._beat_is_due() or not 0 < len(events) <= _ROWS_A_STATEMENT:
            return self._transaction(lambda: self._insert(events, rejected, struck))
        # A statement alone is a transaction: this thread asks for Python's lock once, not thrice.
        return self._insert_events(events)

    def _insert(
        self, events: list[SpoolRow], rejected: list[SpoolRow], struck: list[SpoolRow]
    ) -> int:
        parts = range(0, len(events), _ROWS_A_STATEMENT)
        stored = sum(self._insert_events(events[at : at + _ROWS_A_STATEMENT]) for at in parts)
        if rejected:
            self._connection.executemany(_INSERT_REJECTED, rejected)
        if struck:
            self._connection.executemany(STRIKE_REJECTED, struck)
        if self._beat_is_due():
            self._beat()
        return stored

    def _insert_events(self, rows: list[SpoolRow]) -> int:
        try:
            return self._insert_all(rows)
        except sqlite3.IntegrityError:
            # Some are repeats. `INSERT OR IGNORE` would give a number to each, and readers may take
            # the hole for an event. A look before each insert costs 1 to 4 µs an event.
            return self._insert_all(self._without_repeats(rows))

    def _insert_all(self, rows: list[SpoolRow]) -> int:
        if not rows:
            return 0
        # One statement: with one a row this thread would give up Python's lock, and wait to have it
        # back, twice a row.
        sql = _INSERT_EVENTS + ", ".join(["(?, ?, ?, ?, ?, ?)"] * len(rows))
        return self._connection.execute(sql, tuple(itertools.chain.from_iterable(rows))).rowcount

    def _without_repeats(self, rows: list[SpoolRow]) -> list[SpoolRow]:
        """Return the first row of each body that is not stored."""
        first: dict[Any, SpoolRow] = {}
        for row in rows:
            first.setdefault(row[0], row)
        sql = f"{_STORED} ({', '.join('?' * len(first))})"
        for (digest,) in self._connection.execute(sql, tuple(first)):
            del first[digest]
        return list(first.values())

    def _beat_is_due(self) -> bool:
        return time.monotonic() - self._beat_at >= BEAT_SECONDS / 2

    def _beat(self) -> None:
        """Record that the collector is up; record a gap if it was stopped or stalled before."""
        self._beat_at = time.monotonic()
        now = to_micros(self._clock())
        self._connection.execute(
            "INSERT OR IGNORE INTO gap SELECT beat_at, ? FROM heartbeat WHERE ? - beat_at > ?",
            (now, now, int(GAP_AFTER_SECONDS * SECOND_MICROS)),
        )
        self._connection.execute(
            "INSERT INTO heartbeat VALUES (1, ?)"
            " ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at",
            (now,),
        )
