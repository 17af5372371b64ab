"""Due times of periodic work, by a monotonic clock."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

Monotonic = Callable[[], float]

_FIRST_RETRY_SECONDS: Final = 60.0
_MOST_DOUBLINGS: Final = 20  # two years: further ones would only make the number large


def retry_seconds(failures: int) -> float:
    """Return the pause after so many failures in a row: a minute, then two, four and so on."""
    doublings: int = min(failures - 1, _MOST_DOUBLINGS)
    return _FIRST_RETRY_SECONDS * 2.0**doublings


class Period:
    """Times at which work is due that is done every so many seconds, first at once.

    After a failure the work is due again after a minute, then two, four …, and at the latest
    after a whole period.
    """

    def __init__(self, seconds: float, monotonic: Monotonic = time.monotonic) -> None:
        """Begin now; `monotonic` counts seconds, whatever becomes of the clock on the wall."""
        self._seconds, self._monotonic = seconds, monotonic
        self._due_at: float | None = None
        self._failures = 0

    def is_due(self) -> bool:
        """Return whether to work now."""
        return self._due_at is None or self._monotonic() >= self._due_at

    @property
    def has_failed(self) -> bool:
        """Return whether the last turn failed."""
        return self._failures > 0

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Work: the next turn is due a period after the beginning of this one."""
        began = self._monotonic()
        try:
            yield
        except BaseException:
            self._failures += 1
            pause = min(retry_seconds(self._failures), self._seconds)
            self._due_at = self._monotonic() + pause
            raise
        self._failures = 0
        self._due_at = began + self._seconds
