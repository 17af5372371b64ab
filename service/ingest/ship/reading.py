"""Reader of events in a file that is still being written: whole lines, from a position on.

A file is what its content says: compressed by a rotation, its bytes are those before. So places are
counted in what is inside.
"""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Protocol

import msgspec

from service.ingest.event_uploader import is_json

_HEAD_BYTES = 1_024  # read again for each position
_KEPT_BYTES = 20_971_520  # over the longest line, and a piece

CUT = (EOFError, zlib.error, gzip.BadGzipFile)

MOST_BYTES = 16_777_216  # of one line: more than a collector takes
_PIECE_BYTES = 1_048_576
_GZIP = b"\x1f\x8b"
# Both clients write the instant first; an event begins so, and what is inside of one does not.
_HEAD = b'{"event'


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
        """Return up to so many bytes.

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


class Stream(Protocol):
    """Content of an open file."""

    def fileno(self) -> int:
        """Return the file's descriptor."""

    def seek(self, place: int, /) -> int:
        """Read from there next."""

    def read(self, most: int, /) -> bytes:
        """Return up to so many bytes."""


class Line(msgspec.Struct, frozen=True):
    """Piece that may be one event.

    Attributes:
        number: of the line that it begins in, from 1 on.
        end: where the next begins, in bytes.
        next_number: line of that.
    """

    body: bytes
    number: int
    end: int
    next_number: int


@contextmanager
def open_file(path: Path) -> Iterator[Stream]:
    """Open the file's content, inflated where it is gzip.

    Raises:
        OSError: it is gone, or cannot be read.
    """
    with path.open("rb") as stream:
        is_gzip = stream.read(len(_GZIP)) == _GZIP
        stream.seek(0)
        if is_gzip:
            with gzip.GzipFile(fileobj=stream) as content:
                yield GzipStream(content)
        else:
            yield stream


def read_at(stream: Stream, place: int, most: int) -> bytes:
    """Return up to so many bytes from a position on; of a cut gzip, what is left."""
    parts: list[bytes] = []
    try:
        stream.seek(place)
        while most > 0 and (part := stream.read(min(most, _PIECE_BYTES))):
            parts.append(part)
            most -= len(part)
    except CUT:
        # It is still being written, or never was whole: what is there already counts.
        pass
    return b"".join(parts)


def complete_lines(stream: Stream, place: int, number: int) -> Iterator[Line]:
    """Yield complete lines from `place` on, in order, without a last line that is being written.

    A last line without its end counts as soon as it is one JSON object: nothing can follow in it.
    """
    while piece := read_at(stream, place, _PIECE_BYTES):
        if place == 0 and (document := _document(stream, piece)) is not None:
            yield from _whole_document(document)
            return
        end = piece.rfind(b"\n") + 1
        if not end:
            piece = read_at(stream, place, MOST_BYTES)
            end = piece.find(b"\n") + 1 or _unended(piece)
        if not end:
            return
        for line in BytesIO(piece[:end]):
            yield from _parts(line, number, place)
            place += len(line)
            number += line.endswith(b"\n")


def _unended(piece: bytes) -> int:
    """Return how much of a line without an end may be read."""
    is_whole = piece.lstrip().startswith(b"{") and is_json(piece)
    return len(piece) if is_whole or len(piece) >= MOST_BYTES else 0


def _document(stream: Stream, piece: bytes) -> bytes | None:
    """Return the file, where it is one JSON object over several lines (Python's client)."""
    first, newline, _ = piece.partition(b"\n")
    return read_at(stream, 0, MOST_BYTES) if newline and first.strip() == b"{" else None


def _whole_document(content: bytes) -> Iterator[Line]:
    if is_json(content):
        yield Line(content.strip(), 1, len(content), content.count(b"\n") + 1)


def _parts(line: bytes, number: int, place: int) -> Iterator[Line]:
    """Yield the events in a line: one, or the rest of a killed writer's and the next one's."""
    body = line.strip()
    cut = 0 if not body or is_json(body) else _second_event(body)
    if cut:
        # Its place is the line's: who is killed between the two begins with it again.
        yield Line(body[:cut], number, place, number)
    yield Line(body[cut:], number, place + len(line), number + line.endswith(b"\n"))


def _second_event(line: bytes) -> int:
    """Return where a whole event begins behind half of another; 0: nowhere."""
    at = line.rfind(_HEAD)
    return at if at > 0 and is_json(line[at:]) else 0
