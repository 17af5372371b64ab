"""Due times of periodic work, by a monotonic clock."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

Monotonic = Callable[[], float]

_FIRST_RETRY_SECONDS: Final = 60.0


class Period:
    """Says when work is due that is done every so many seconds, first at once.

    After a failure the work is due again after a minute, then two, four …, and at the latest
    after a whole period.
    """

    def __init__(self, seconds: float, monotonic: Monotonic = time.monotonic) -> None:
        """`monotonic` counts seconds, whatever becomes of the clock on the wall."""
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
            retry = _FIRST_RETRY_SECONDS * 2 ** min(self._failures, 20)
            self._failures += 1
            self._due_at = self._monotonic() + min(retry, self._seconds)
            raise
        self._failures = 0
        self._due_at = began + self._seconds
