"""Cache of metrics that are too slow to compute on every scrape."""

from collections.abc import Callable
from typing import Final

from prometheus_client.core import Metric

EVERY_SECONDS: Final = 300.0
MOST_SHARE: Final = 1 / 20  # of the time


class CachedMetrics:
    """Metrics that a periodic job renews. A scrape waits for none of them."""

    def __init__(self, make: Callable[[], list[Metric]]) -> None:
        self._make = make
        self._cached: list[Metric] = []

    def current(self) -> list[Metric]:
        """Return the newest metrics; none before the first run of the job or after a failed one."""
        return self._cached

    def drop(self) -> None:
        """Forget the metrics."""
        self._cached = []

    def renew(self) -> None:
        """Compute the metrics; drop the old ones on an error, as they may be of another day."""
        made: list[Metric] = []
        try:
            made = self._make()
        finally:
            self._cached = made
