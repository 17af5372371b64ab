"""Pace of the stream: how many bytes of events the next batch takes.

While a batch merges, nothing else writes to the catalog: evaluations, audit and incidents wait.
Bytes say little of how long that is (an event names one dataset or a thousand), so the size follows
what the batches before it took.
"""

from msgspec.structs import replace

from slis.stream.log.spool_reader import BatchLimits

_LONGEST_SECONDS = 5.0  # of a merge; what waits for the catalog gives up after 30 s
_FIRST_BYTES = 8 << 20
_LEAST_BYTES = 1 << 18  # below, what each merge costs by itself would be most of it


class BatchPace:
    """Size of the next batch, at most that of the settings."""

    def __init__(self, limits: BatchLimits) -> None:
        """Begin small: nothing is known of the events yet."""
        self._limits = limits
        self._size = min(_FIRST_BYTES, limits.size)

    def limits(self) -> BatchLimits:
        """Return the limits of the next batch."""
        return replace(self._limits, size=self._size)

    def landed(self, size: int, seconds: float) -> None:
        """Learn from a batch of so many bytes that merged in `seconds`.

        A batch far below its bound says nothing of a larger one.
        """
        if seconds > _LONGEST_SECONDS:
            self._set(int(size * _LONGEST_SECONDS / seconds))
        elif size > self._size // 2:
            self._set(2 * self._size)

    def gave_up(self) -> None:
        """Learn from a batch that did not merge: perhaps the catalog had no time for it."""
        self._set(self._size // 2)

    def _set(self, size: int) -> None:
        self._size = min(max(size, _LEAST_BYTES), self._limits.size)
