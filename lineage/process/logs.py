"""Logs of every role: one JSON object a line, on standard error.

Names and errors come from outside: in JSON none of them can end a line, or begin one that looks
like ours. A traceback has no values of variables in it: they hold what nobody may read.
"""

import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger

_REPEAT_SECONDS = 60.0
_MOST_REMEMBERED = 1_000
_NUMBER = re.compile(r"\d+")
_REPEATABLE = frozenset({"warning", "error", "exception", "critical"})


def log_to_stderr(level: str = "info") -> None:
    """Log like this from here on, in this process.

    A command that logs calls it too: structlog's own default prints on standard output, with the
    values of variables in each traceback.
    """
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            OncePerMinute(),
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=lambda *_: _Lines(),
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )


class _Lines:
    """Writer of lines; a line that the disk does not take is lost, and stops no work."""

    def msg(self, line: str) -> None:
        with suppress(OSError):
            print(line, file=sys.stderr, flush=True)  # noqa: T201 - the log itself

    debug = info = warning = error = critical = exception = msg


class OncePerMinute:
    """Drop repetitions of a failure; the next one after a minute says how many there were.

    Two failures are alike where they differ in numbers only.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[Any, tuple[float, int]] = {}

    def __call__(self, _logger: WrappedLogger, level: str, event: EventDict) -> EventDict:
        """Pass the event on, with the number of those dropped.

        Raises:
            structlog.DropEvent: it is a repetition.
        """
        if level not in _REPEATABLE:
            return event
        kind, now = _kind(event), self._clock()
        logged_at, dropped = self._seen.get(kind, (-_REPEAT_SECONDS, 0))
        if now - logged_at < _REPEAT_SECONDS:
            self._seen[kind] = logged_at, dropped + 1
            raise structlog.DropEvent
        self._remember(kind, now)
        return {**event, "repeated": dropped} if dropped else event

    def _remember(self, kind: Any, now: float) -> None:  # noqa: ANN401 - any hashable
        if len(self._seen) >= _MOST_REMEMBERED:
            self._seen.clear()
        self._seen[kind] = now, 0


def _kind(event: EventDict) -> tuple[tuple[str, str], ...]:
    """Return the key by which two failures are the same."""
    raised = event.get("exc_info")
    error = raised if isinstance(raised, BaseException) else sys.exc_info()[1] if raised else None
    shown = {**event, "exc_info": type(error).__name__}
    return tuple((name, _NUMBER.sub("#", str(value))) for name, value in sorted(shown.items()))
