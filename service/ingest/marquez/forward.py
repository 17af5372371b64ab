"""Forwarding from the spool to Marquez: every accepted event, those of one run in order.

At least once: what was sent and not yet noted when the process dies is sent again. Marquez would
hold it as a second raw row of the same run, which its model folds; skipping it could lose it, for
an answer of 500 may leave the row stored and the run as it was.
"""

import asyncio
import time
from collections import deque
from pathlib import Path

import structlog

from lineage.process.clock import Clock, to_micros
from service.ingest.collector_spool import Spooled, read_last_given, spooled_after
from service.ingest.marquez.deliver import EventSender, ForwardingStoppedError, RejectedError, pause
from service.ingest.marquez.event_identity import DeliveredEvents, valid_core
from service.ingest.marquez.store import SetAsideRow, Store, in_catalog

_MAX_PENDING = 1_000
_MAX_PENDING_BYTES = 67_108_864
_ROWS_A_READ = 200
_POLL_SECONDS = 0.2
_NOTE_SECONDS = 1.0
_log = structlog.get_logger()


class Progress:
    """Progress: which events were read from the spool, and up to where all of them are done."""

    def __init__(self, through: int) -> None:
        self.through = through
        self._taken: deque[int] = deque()
        self._done: set[int] = set()

    @property
    def last_taken(self) -> int:
        """Return the event after which to read on."""
        return self._taken[-1] if self._taken else self.through

    def take(self, seq: int) -> None:
        """Mark it as on its way."""
        self._taken.append(seq)

    def done(self, seq: int) -> None:
        """Mark it as done: sent, set aside, or not to be sent."""
        self._done.add(seq)
        while self._taken and self._taken[0] in self._done:
            self.through = self._taken.popleft()
            self._done.remove(self.through)


class Forwarder:
    """Reader of the spool with one lane per run; lanes share the sender's connections."""

    def __init__(
        self,
        spool: Path,
        store: Store,
        sender: EventSender,
        *,
        seen: DeliveredEvents,
        clock: Clock,
    ) -> None:
        self._spool = spool
        self._store = store
        self._sender = sender
        self._seen = seen
        self._clock = clock
        self._lanes: dict[str, deque[Spooled]] = {}
        self._pending_bytes = 0
        self._pending = 0
        self._sent = 0
        self._noted_at = 0.0

    async def run(self, stop: asyncio.Event) -> None:
        """Forward until stopped; then finish what is in flight, and note it."""
        self._progress = Progress(await in_catalog(self._store.cursor))
        self._noted = self._progress.through
        self._sender.stop = stop
        async with asyncio.TaskGroup() as lanes:
            while not stop.is_set():
                took = self._has_room() and await self._take(lanes)
                await self._note()
                if not took:
                    await pause(stop, _POLL_SECONDS)
        self._noted_at = 0.0
        await self._note()

    def _has_room(self) -> bool:
        return self._pending < _MAX_PENDING and self._pending_bytes < _MAX_PENDING_BYTES

    async def _take(self, lanes: asyncio.TaskGroup) -> bool:
        after = self._progress.last_taken
        events = await asyncio.to_thread(spooled_after, self._spool, after, _ROWS_A_READ)
        if not events and await self._spool_is_new(after):
            _log.warning("spool_is_new", cursor=after)
            self._progress = Progress(0)
        for event in events:
            self._progress.take(event.seq)
            known = valid_core(event.body)
            self._seen.add(known.identity())
            if event.is_for_marquez:
                self._line_up(event, known.whose, lanes)
            else:
                self._progress.done(event.seq)
        return bool(events)

    async def _spool_is_new(self, after: int) -> bool:
        """Return whether the spool has numbers below those read: it was lost, and began again."""
        last = await asyncio.to_thread(read_last_given, self._spool)
        return last is not None and last < after and not self._pending

    def _line_up(self, event: Spooled, whose: str, lanes: asyncio.TaskGroup) -> None:
        self._pending += 1
        self._pending_bytes += len(event.body)
        if whose in self._lanes:
            self._lanes[whose].append(event)
        else:
            self._lanes[whose] = deque([event])
            lanes.create_task(self._drain(whose))

    async def _drain(self, whose: str) -> None:
        """Deliver what one run has, one after the other."""
        lane = self._lanes[whose]
        while lane:
            event = lane[0]
            try:
                await self._sender.deliver(event)
                self._sent += 1
            except RejectedError as rejected:
                await self._set_aside(event, whose, rejected)
            except ForwardingStoppedError:
                return
            lane.popleft()
            self._progress.done(event.seq)
            self._pending -= 1
            self._pending_bytes -= len(event.body)
        del self._lanes[whose]

    async def _set_aside(self, event: Spooled, whose: str, rejected: RejectedError) -> None:
        # In the catalog before the cursor passes it.
        row = SetAsideRow(
            spool_seq=event.seq,
            run=whose,
            reason=rejected.reason,
            detail=rejected.detail,
            body=event.body,
            body_bytes=len(event.body),
            set_aside_at=to_micros(self._clock()),
        )
        await in_catalog(self._store.set_aside, row)
        _log.warning("event_set_aside", seq=event.seq, run=whose, reason=rejected.reason)

    async def _note(self) -> None:
        through, sent = self._progress.through, self._sent
        now = time.monotonic()
        if through == self._noted or now - self._noted_at < _NOTE_SECONDS:
            return
        await in_catalog(self._store.note_forwarded, through, sent)
        self._noted, self._noted_at = through, now
        self._sent -= sent
