"""Reception of a slab's events into the spool, by the collector's own checks and writer.

In this process, on a simulated clock: each event is received when the history says. Between two
events the collector writes a heartbeat each real second, which is hours of the simulation; so its
heartbeat is brought forward to where a slab begins and ends, unless the collector was down.
"""

import sqlite3
import threading
from contextlib import closing
from datetime import datetime
from pathlib import Path

from collector.events import parse_event
from collector.settings import Limits
from collector.spool import Spool
from collector.spool_file import open_spool
from collector.writes import WriteRequest
from lab.gameday.history import Slab
from lineage.process.clock import from_micros

_AT_ONCE = 2_000
_GIB = 1 << 30
_LIMITS = Limits(max_spool_bytes=64 * _GIB)
_BEAT = """
    INSERT INTO heartbeat VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at
"""


class NotTakenError(Exception):
    """Error: the spool did not accept an event of the history; the message says why."""


class CollectedSpool:
    """Spool of the collector below a folder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = self._began = from_micros(0)

    def take(self, slab: Slab) -> int:
        """Receive a slab; while the collector is down there are neither events nor heartbeats.

        Returns:
            How many events are in the spool now that were not before.

        Raises:
            InvalidEventError: an event of the history is none; a fault of ours.
            NotTakenError: the disk did not take it.
        """
        if slab.is_deaf:
            return 0
        self._at = self._began = from_micros(slab.starts_at)
        outcome = _Outcome()
        spool = Spool(self._path, _LIMITS, self._clock, outcome)
        spool.start()
        try:
            self._submit(spool, slab)
        finally:
            spool.stop()
        if outcome.error is not None:
            raise NotTakenError(f"{self._path}: {outcome.error}")
        self._set_heartbeat(slab.ends_at)
        return outcome.stored

    def _clock(self) -> datetime:
        # The writer's thread only writes heartbeats, and looks for old rows.
        is_writer = threading.current_thread().name == "spool-writer"
        return self._began if is_writer else self._at

    def _submit(self, spool: Spool, slab: Slab) -> None:
        for first in range(0, len(slab.events), _AT_ONCE):
            rows = []
            for event in slab.events[first : first + _AT_ONCE]:
                self._at = from_micros(event.received_at)
                rows.append(spool.event_row(parse_event(event.body, _LIMITS), "http"))
            spool.submit(WriteRequest(tuple(rows), (), None))

    def _set_heartbeat(self, at: int) -> None:
        with closing(open_spool(self._path, _LIMITS.max_spool_bytes)) as connection:
            connection.execute(_BEAT, (at,))


class _Outcome:
    """Outcome of the submitted events."""

    def __init__(self) -> None:
        self.stored = 0
        self.error: sqlite3.Error | None = None

    def committed(self, group: list[WriteRequest], stored: int, seconds: float) -> None:  # noqa: ARG002
        self.stored += stored

    def failed(self, group: list[WriteRequest], error: sqlite3.Error) -> None:  # noqa: ARG002
        self.error = error
