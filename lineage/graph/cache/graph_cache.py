"""Cache of the newest lineage, kept in memory while it is queried.

Read again behind the answers, in a thread of its own, once a second; less often where that takes
long. A query that finds it older than five seconds uses the catalog: nobody waits, and
nobody gets outdated lineage.
"""

import threading
import time
from typing import Final

import structlog

from lineage.catalog.reader import open_reader
from lineage.graph.cache.reading import read_snapshot
from lineage.graph.cache.snapshot import EMPTY_GRAPH, Snapshot
from lineage.periods import Monotonic

OLDEST_SECONDS: Final = 5.0
EVERY_SECONDS: Final = 1.0
_SHARE: Final = 0.2  # of the time: an answer takes longer beside it
_READ_SECONDS: Final = 60.0  # a statement over all edges, on a busy server
_OLDEST_WITHOUT_NEED: Final = 4.0  # the next may take longer than the last
log = structlog.get_logger(__name__)


class LineageCache:
    """Lineage of a catalog, for the threads of one process."""

    def __init__(self, catalog_url: str, monotonic: Monotonic = time.monotonic) -> None:
        """Read nothing before the first query."""
        self._url = catalog_url
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._held: tuple[float, Snapshot] | None = None  # as of when
        self._due = float("-inf")
        self._reading: threading.Thread | None = None

    def current(self) -> Snapshot | None:
        """Return all lineage, at most five seconds old; None: query the catalog."""
        with self._lock:
            now = self._monotonic()
            if now >= self._due and self._reading is None:
                self._due = now + EVERY_SECONDS
                self._begin()
            if self._held is None or now - self._held[0] > OLDEST_SECONDS:
                return None
            return self._held[1]

    def wait(self) -> None:
        """Wait until nothing is being read."""
        reading = self._reading
        if reading is not None:
            reading.join()

    def _begin(self) -> None:
        reading = threading.Thread(target=self._read, name="lineage", daemon=True)
        try:
            reading.start()
        except RuntimeError:  # no more threads: the catalog answers, and the next second tries
            log.warning("lineage_not_read", exc_info=True)
        else:
            self._reading = reading

    def _read(self) -> None:
        began, found = self._monotonic(), None
        before = EMPTY_GRAPH if self._held is None else self._held[1]
        try:
            with open_reader(self._url, seconds=_READ_SECONDS) as reader:
                found = read_snapshot(reader, before)
        except Exception:
            log.warning("lineage_not_read", exc_info=True)
        took = self._monotonic() - began
        log.debug("lineage_read", seconds=round(took, 3))
        with self._lock:
            self._held = self._held if found is None else (began, found)
            self._due = began + pause_after(took)
            self._reading = None


def pause_after(took: float) -> float:
    """Return seconds from the begin of one reading, which took so long, to that of the next."""
    return max(EVERY_SECONDS, min(took / _SHARE, _OLDEST_WITHOUT_NEED - took))
