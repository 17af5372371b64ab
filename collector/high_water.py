"""High-water mark of the spool: the last number given, in a file beside it, to detect lost events.

Written after each commit and before its senders are answered, without an fsync: it outlives a
process, and after a power cut it is at most older than the spool, never ahead of it.
"""

import contextlib
import os
from pathlib import Path

import structlog

_DIGITS = 19
_log = structlog.get_logger()


class HighWater:
    """High-water mark in the file `spool.seq`; a failed write is logged once only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None
        self._is_failing = False

    def read(self) -> int:
        """Return the last recorded number, or 0."""
        with contextlib.suppress(OSError, ValueError):
            return max(0, int(self.path.read_bytes()))
        return 0

    def write(self, seq: int) -> None:
        """Note a number."""
        try:
            if self._fd is None:
                self._fd = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600)
            os.pwrite(self._fd, b"%0*d\n" % (_DIGITS, seq), 0)
            self._is_failing = False
        except OSError as error:
            if not self._is_failing:
                _log.warning("high_water_not_written", path=str(self.path), error=str(error))
            self._is_failing = True

    def close(self) -> None:
        """Close the file."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def high_water_of(spool: Path) -> HighWater:
    """Return the high-water mark of this spool."""
    return HighWater(spool.with_name("spool.seq"))
