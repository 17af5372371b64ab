"""Periodic work of the pipeline beside the stream: evaluations, gaps, and hourly retention."""

from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Event, Thread
from typing import Any

import structlog
from pyspark import InheritableThread
from sqlalchemy.exc import OperationalError

from lineage.process.clock import Clock
from lineage.process.health import HEALTH

log = structlog.get_logger(__name__)


_LEAST_PAUSE = timedelta(seconds=5)
# Evaluations take no more than half of the time, as long as that does not make them rare.
_SHARE = 2
# A tenth, where nothing that landed failed, and what was written was good or learning before.
_ROUTINE_SHARE = 10


class Evaluations:
    """Schedule of evaluations: when the next one is due.

    Facts changed, a deadline passed, or it is long since the last. What takes 1 s comes at most
    every 5 s for news and passed deadlines, and every 10 s for other facts. A small estate is
    evaluated sooner than a large one.
    """

    def __init__(self, longest_pause: timedelta, at_least_every: timedelta) -> None:
        self.longest_pause = longest_pause
        self.at_least_every = at_least_every
        self.last: datetime | None = None
        self.deadline: datetime | None = None
        self._changed, self._news = Event(), Event()
        self._pause = self._routine_pause = longest_pause
        self._is_warm = False

    @property
    def is_anything_new(self) -> bool:
        """Return whether facts changed since the last evaluation began."""
        return self._changed.is_set()

    def note(self, *, is_news: bool = True) -> None:
        """Note that facts changed.

        Args:
            is_news: whether a run or an assertion failed, or what is neither good nor learning was
                written; a defect that only an evaluation finds, as a changed schema, is none.
        """
        if is_news:
            self._news.set()
        self._changed.set()

    def is_due(self, now: datetime) -> bool:
        """Return whether to evaluate now."""
        if self.last is None:
            return True
        age = now - self.last
        # A clock that was set back must not silence the evaluations.
        if age < timedelta(0) or age >= self.at_least_every:
            return True
        passed = self.deadline is not None and self.last < self.deadline <= now
        if passed or self._news.is_set():
            return age >= self._pause
        return age >= self._routine_pause and self._changed.is_set()

    def begun(self, now: datetime) -> None:
        """Begin an evaluation as of `now`: events that land from here on are for the next."""
        self.last = now
        self._changed.clear()
        self._news.clear()

    def ended(self, seconds: float, deadline: datetime | None) -> None:
        """Record the evaluation's duration, and when the next dataset will be late."""
        # The first one compiled what the others find: its duration is no estimate of theirs.
        self._pause = self._pause_of(_SHARE, seconds)
        self._routine_pause = self._pause_of(_ROUTINE_SHARE, seconds)
        self._is_warm = True
        self.deadline = deadline

    def _pause_of(self, share: int, seconds: float) -> timedelta:
        pause = max(_LEAST_PAUSE, share * timedelta(seconds=seconds))
        return min(pause, self.longest_pause) if self._is_warm else _LEAST_PAUSE


class PeriodicTask:
    """Thread that runs `work` again and again until it is stopped.

    `first`, where it is given, is the first turn. An error is logged and the next turn comes: a
    catalog that is away for a minute is no reason to stop the stream.
    """

    def __init__(
        self,
        name: str,
        every_seconds: float,
        work: Callable[[datetime], Any],
        clock: Clock,
        *,
        first: Callable[[datetime], Any] | None = None,
    ) -> None:
        self.name = name
        self._every_seconds = every_seconds
        self._work = work
        self._clock = clock
        self._first = first
        self._stop = Event()
        # Spark's own threads: a plain one has no pool, and its Java thread is never freed.
        self._thread: Thread = InheritableThread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin with the first turn."""
        self._thread.start()

    def end(self) -> None:
        """Have no more turns; the one in flight may be cut short."""
        self._stop.set()

    def join(self, timeout_seconds: float) -> None:
        """Wait for the turn in flight."""
        self._thread.join(timeout_seconds)

    def _run(self) -> None:
        while not self._stop.is_set():
            work, self._first = self._first or self._work, None
            try:
                work(self._clock())
            except OperationalError as error:
                HEALTH.fail(self.name, str(error.orig))
                log.warning("catalog_unavailable", task=self.name, error=str(error.orig))
            except Exception as error:  # the edge of a thread: logged, and carried on
                if self._stop.is_set():
                    log.info("task_cut_short", task=self.name, error=type(error).__name__)
                else:
                    HEALTH.fail(self.name, f"{type(error).__name__}: {error}")
                    log.exception("task_failed", task=self.name)
            else:
                HEALTH.succeed(self.name)
            self._stop.wait(self._every_seconds)
