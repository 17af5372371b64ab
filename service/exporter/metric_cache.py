"""Figures that cost more than a scrape should: made seldom, beside it, and shown in between."""

import threading
import time
from collections.abc import Callable

import structlog
from prometheus_client.core import Metric

LEAST_SECONDS = 300.0
PATIENCE_SECONDS = 2.0  # for which a scrape waits for new figures
_SHARE = 20  # they may take a twentieth of the time
_log = structlog.get_logger()


class CachedMetrics:
    """Keeps figures for `LEAST_SECONDS`, or for 20 times as long as it took to make them.

    Safe for several scrapes at once: a thread makes them, and scrapes see the ones before as long
    as it has not ended. What cannot be made is absent, and tried anew.
    """

    def __init__(
        self, make: Callable[[], list[Metric]], timer: Callable[[], float] = time.monotonic
    ) -> None:
        self._make = make
        self._timer = timer
        self._lock = threading.Lock()
        self._kept: list[Metric] = []
        self._until: float | None = None
        self._maker: threading.Thread | None = None

    def current(self) -> list[Metric]:
        """Return the newest cached metrics."""
        with self._lock:
            maker = self._maker
            if maker is None and (self._until is None or self._timer() >= self._until):
                maker = self._maker = threading.Thread(target=self._renew, daemon=True)
                maker.start()
        if maker is not None:
            maker.join(PATIENCE_SECONDS)
        with self._lock:
            return self._kept

    def _renew(self) -> None:
        began, made = self._timer(), list[Metric]()
        try:
            made = self._make()
        except Exception as error:  # noqa: BLE001 - the edge of a thread: logged, and tried anew
            _log.warning("figures_not_made", error=str(error)[:200])
        took = self._timer() - began
        with self._lock:
            self._kept, self._maker = made, None
            self._until = began + took + max(LEAST_SECONDS, _SHARE * took)
