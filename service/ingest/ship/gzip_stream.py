"""Content of a gzip, read on and a little way back without inflating it all again.

A gzip has no places: to go back in one is to begin it again, which for each batch of a large file
would cost the square of its size. So what was read last is kept, and the file's head.
"""

import gzip
import zlib

_PIECE_BYTES = 1_048_576
_HEAD_BYTES = 1_024  # read again for each position
_KEPT_BYTES = 20_971_520  # over the longest line, and a piece

CUT = (EOFError, zlib.error, gzip.BadGzipFile)


class GzipStream:
    """Part of a binary stream that reading needs; positions count the content."""

    def __init__(self, content: gzip.GzipFile) -> None:
        self._content = content
        self._head = b""
        self._kept = bytearray()
        self._begin = 0  # place of what is kept
        self._at = 0

    def fileno(self) -> int:
        """Return the file's descriptor."""
        return self._content.fileno()

    def seek(self, place: int) -> int:
        """Read from there next."""
        self._at = place
        return place

    def read(self, most: int) -> bytes:
        """Up to so many bytes.

        Raises:
            EOFError, zlib.error, gzip.BadGzipFile: nothing is there, as the file is cut here.
        """
        found = self._head[self._at : self._at + most]
        if len(found) < most:
            found = self._from_kept(most)
        self._at += len(found)
        return found

    def _from_kept(self, most: int) -> bytes:
        if self._at < self._begin:
            self._content.seek(0)
            self._kept.clear()
            self._begin = 0
        try:
            while self._begin + len(self._kept) < self._at + most and self._grow():
                continue
        except CUT:
            if self._begin + len(self._kept) <= self._at:
                raise
        begin = self._at - self._begin
        return bytes(self._kept[begin : begin + most])

    def _grow(self) -> bool:
        """Read the next part; return whether there was one."""
        part = self._content.read1(_PIECE_BYTES)
        self._kept += part
        if self._begin == 0:
            self._head = bytes(self._kept[:_HEAD_BYTES])
        # What is asked for next must stay.
        spare = min(len(self._kept) - _KEPT_BYTES, self._at - self._begin)
        if spare > _PIECE_BYTES:
            del self._kept[:spare]
            self._begin += spare
        return bool(part)
