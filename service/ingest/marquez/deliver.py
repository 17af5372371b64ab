"""Delivery of one event to Marquez: repeated until accepted, or shown to be at fault."""

import asyncio
import contextlib
import random
import time

import msgspec
import structlog
from tenacity import AsyncRetrying, retry_if_exception_type, wait_random_exponential

from service.ingest.collector_spool import Spooled
from service.ingest.marquez.client import Marquez, SendResult
from service.ingest.marquez.event_identity import EventCore, valid_core
from service.ingest.marquez.settings import MarquezSettings

_SERVER_ERROR = 500
_FIRST_WAIT_SECONDS = 0.5
_LOOKS_A_WAIT = 6  # signs of life asked for within the longest wait of one event
_AWAY_AFTER = 8  # failures in a row, of whatever events
# An event is at fault when others are taken between its failures; once might be a restart.
_LEAST_FAILURES = 8
_LEAST_WHILE_OTHERS_PASSED = 3
_ENDS = ("COMPLETE", "FAIL", "ABORT")
# What is sent again for a sign of life until a run has ended there: Marquez takes JobEvents.
_FIRST_SIGN = b"""{"eventTime": "2026-01-01T00:00:00Z", "producer": "https://github.com/lineward",
"schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/JobEvent",
"job": {"namespace": "lineward", "name": "sign-of-life"}, "inputs": [], "outputs": []}"""
_log = structlog.get_logger()


class RejectedError(Exception):
    """Marquez does not take this event, whenever it is sent."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class ForwardingStoppedError(Exception):
    """Error: stopped before the event was accepted; the next process sends it."""


class _FailedError(Exception):
    """Error: not accepted this time."""


class Trial(msgspec.Struct):
    """Event that is being sent, and its failed attempts.

    Attributes:
        event: as spooled.
        known: its core.
        failures: attempts that Marquez did not accept.
        while_others_passed: failures with another event accepted since the failure before.
        passes: events that the sender had delivered at the last failure, or at the start.
    """

    event: Spooled
    known: EventCore
    failures: int = 0
    while_others_passed: int = 0
    passes: int = 0


class EventSender:
    """Sender of events, so many at a time; it knows how Marquez is from the results of all."""

    def __init__(self, marquez: Marquez, marquez_settings: MarquezSettings) -> None:
        self._marquez = marquez
        self._slots = asyncio.Semaphore(marquez_settings.connections)
        self._longest_wait_seconds = marquez_settings.longest_wait_seconds
        self.stop = asyncio.Event()
        self._failures_in_a_row = 0
        self._sound = _FIRST_SIGN
        self._looked_at = 0.0
        self.passes = 0

    async def deliver(self, event: Spooled) -> None:
        """Return once Marquez has acknowledged it.

        Raises:
            RejectedError: it never will.
            ForwardingStoppedError: it has not, and we are to stop.
        """
        trial = Trial(event, valid_core(event.body), passes=self.passes)
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(_FailedError),
            wait=wait_random_exponential(_FIRST_WAIT_SECONDS, max=self._longest_wait_seconds),
            sleep=self._pause,
        )
        await retrying(self._attempt, trial)

    async def _attempt(self, trial: Trial) -> None:
        async with self._slots:
            await self._rest()
            if self.stop.is_set():
                raise ForwardingStoppedError
            # Not cut short by a stop: its answer says whether the next process sends it again.
            result = await self._marquez.post(trial.event.body)
            if result.outcome == "failed" and result.status >= _SERVER_ERROR:
                await self._look_for_life()
        if result.outcome == "sent":
            self._take(trial)
        elif result.outcome == "rejected":
            # No sign of life: it reads an event before it needs its database.
            raise RejectedError(result.reason, result.detail)
        else:
            self._fail(trial, result)

    async def _rest(self) -> None:
        """Wait: while nothing passes, every connection slows down, however old its event is."""
        beyond = self._failures_in_a_row - _AWAY_AFTER
        if beyond >= 0:
            longest = min(self._longest_wait_seconds, _FIRST_WAIT_SECONDS * 2 ** min(beyond, 10))
            await self._pause(random.uniform(0, longest))  # noqa: S311 - of retries

    async def _pause(self, seconds: float) -> None:
        await pause(self.stop, seconds)

    async def _look_for_life(self) -> None:
        """Send a sound event again where nothing passes: is the cause Marquez or the events?

        An answer to a GET would not show it: a database may be read and not be written to.
        """
        now = time.monotonic()
        wait = self._longest_wait_seconds / _LOOKS_A_WAIT
        if self._failures_in_a_row < _AWAY_AFTER or now - self._looked_at < wait:
            return
        self._looked_at = now
        result = await self._marquez.post(self._sound)
        if result.outcome == "sent":
            _log.info("marquez_lives", though_failed=self._failures_in_a_row)
            self._failures_in_a_row = 0
            self.passes += 1

    def _take(self, trial: Trial) -> None:
        if trial.known.run is not None and (trial.known.eventType or "").upper() in _ENDS:
            # Nothing of its run comes after it, that it could overtake.
            self._sound = trial.event.body
        self._pass()

    def _pass(self) -> None:
        if self._failures_in_a_row >= _AWAY_AFTER:
            _log.info("marquez_back", after_failures=self._failures_in_a_row)
        self._failures_in_a_row = 0
        self.passes += 1

    def _fail(self, trial: Trial, result: SendResult) -> None:
        self._failures_in_a_row += 1
        if self._failures_in_a_row == _AWAY_AFTER:
            _log.warning("marquez_away", reason=result.reason, detail=result.detail)
        trial.failures += 1
        trial.while_others_passed += self.passes > trial.passes
        trial.passes = self.passes
        if result.reason == "http_500" and _is_stored_all_the_same(trial.known):
            raise RejectedError(
                "no_event_type", "stored as a raw row by each try, and answered 500"
            )
        if (
            trial.failures >= _LEAST_FAILURES
            and trial.while_others_passed >= _LEAST_WHILE_OTHERS_PASSED
        ):
            raise RejectedError("failed_alone", f"{trial.failures} tries, at last: {result.detail}")
        raise _FailedError(result.detail)


async def pause(stop: asyncio.Event, seconds: float) -> None:
    """Wait, and no longer than until stopped."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()


def _is_stored_all_the_same(known: EventCore) -> bool:
    return known.run is not None and known.eventType is None
