"""Figures that cost more than a scrape should: made seldom, and shown in between."""

import threading
import time
from collections.abc import Callable

from prometheus_client.core import Metric

LEAST_SECONDS = 300.0
_SHARE = 20  # they may take a twentieth of the time


class Seldom:
    """Keeps figures for `LEAST_SECONDS`, or for 20 times as long as it took to make them.

    Safe for several scrapes at once: one makes them.
    """

    def __init__(self, timer: Callable[[], float] = time.monotonic) -> None:
        self._timer = timer
        self._lock = threading.Lock()
        self._kept: list[Metric] = []
        self._until: float | None = None

    def current(self, make: Callable[[], list[Metric]]) -> list[Metric]:
        """The figures; what could not be made raises, and is tried anew at the next scrape."""
        with self._lock:
            began = self._timer()
            if self._until is None or began >= self._until:
                self._kept = make()
                ended = self._timer()
                self._until = ended + max(LEAST_SECONDS, _SHARE * (ended - began))
            return self._kept
