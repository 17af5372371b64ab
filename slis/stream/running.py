"""The query for as long as the role runs: begun again where it ended by an error that may pass.

A machine that is out of breath for seconds ends a query: Spark's Python source was not answered in
time. What a batch left half done its repetition replaces, so beginning again costs its time only.
"""

import time
from collections.abc import Callable
from threading import Event

import structlog
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from lineage.health import HEALTH
from slis.stream.merge import RangeMismatchError

log = structlog.get_logger(__name__)

_MOST_FAILURES = 5  # in a row, without a batch in between
_PAUSE_SECONDS = 2.0  # before the second try; twice as long before each one after it
_FINISH_SECONDS = 30.0
_PART = "stream"  # as health reports name it
_LOOK_SECONDS = 5.0
_LONG_BATCH_SECONDS = 600.0


class PipelineStoppedError(Exception):
    """The stream cannot go on by itself; the message says what, where and what to do."""


class Running:
    """A query, and those that took its place."""

    _start: Callable[[], StreamingQuery]
    _query: StreamingQuery

    def __init__(self) -> None:
        self._failures = 0
        self._look_at = 0.0
        self._active_since: float | None = None

    def begin(self, start: Callable[[], StreamingQuery]) -> None:
        """Start the first one; `start` is called again for each of the others."""
        self._start = start
        self._query = start()

    def landed(self) -> None:
        """A batch did: what failed before has passed."""
        self._failures = 0
        self._active_since = None
        HEALTH.succeed(_PART)

    def look(self, stopped: Event) -> bool:
        """Whether there is a query that runs, or one that was begun again.

        Args:
            stopped: ends the pause before a query begins again.

        Raises:
            PipelineStoppedError: no repetition can help, or none did.
        """
        if self._query.isActive:
            self._look_at_batch()
            return True
        error = self._query.exception()
        if error is None:
            return False  # somebody ended it
        self._failures += 1
        HEALTH.fail(_PART, reason(error))
        if is_final(error) or self._failures > _MOST_FAILURES:
            raise PipelineStoppedError(reason(error)) from error
        log.warning("stream_begins_again", failures=self._failures, error=reason(error))
        if not stopped.wait(_PAUSE_SECONDS * 2 ** (self._failures - 1)):
            self._query = self._start()
        return True

    def _look_at_batch(self) -> None:
        """Report a batch that does not end, and a query begun again that has nothing to do."""
        now = time.monotonic()
        if now < self._look_at:
            return
        self._look_at = now + _LOOK_SECONDS
        if not self._is_at_work():
            self._active_since = None
            if self._query.lastProgress is not None:
                HEALTH.succeed(_PART)
            return
        self._active_since = self._active_since or now
        if now - self._active_since >= _LONG_BATCH_SECONDS:
            # Not ended: on a starved machine it would be taken anew each time, and never land.
            minutes = (now - self._active_since) / 60
            HEALTH.fail(_PART, f"a batch has run for {minutes:.0f} min without an end")

    def finish(self) -> None:
        """Stop between two batches: one that is cut off would be repeated, at the cost of time."""
        until = time.monotonic() + _FINISH_SECONDS
        while self._is_at_work() and time.monotonic() < until:
            time.sleep(0.05)
        self._query.stop()

    def _is_at_work(self) -> bool:
        return self._query.isActive and bool(self._query.status["isTriggerActive"])


def is_final(error: StreamingQueryException) -> bool:
    """Whether the catalog and the spool do not fit each other: they will not by themselves."""
    return RangeMismatchError.__name__ in str(error)


def reason(error: StreamingQueryException) -> str:
    """What the batch itself said, without Spark's plan and the two stack traces around it."""
    name = RangeMismatchError.__name__
    lines = [line for line in str(error).splitlines() if name in line]
    return lines[-1].split(f"{name}: ")[-1] if lines else str(error).splitlines()[0]
