"""Progress of each file's shipping: stored outside of the files, and found after a rename.

A file is known by its inode and the hashes of its head and of what is right in front of the place.
Renamed, it is the same; cut to nothing and written again, it is another; a copy of it (by
`copytruncate`, or compressed) is known by the hashes alone, and goes on where the first one was.
"""

import hashlib
import os
from pathlib import Path

import msgspec

from service.errors import RejectedInputError
from service.ingest.ship.reading import Stream, read_at

_SAMPLE_BYTES = 1_024
_MOST_GONE = 1_000  # files that are not there (any more), of which the places are kept


class FilePosition(msgspec.Struct, frozen=True, kw_only=True):
    """Progress of one file.

    Attributes:
        name: when it was last seen.
        place: bytes of its content that the collector has answered for.
        line: number of the line that begins there.
        head: hash of its first bytes, up to 1,024 of those before `place`.
        tail: hash of the last ones before `place`, likewise.
    """

    name: str
    device: int
    inode: int
    place: int
    line: int
    head: str
    tail: str


def position_of_file(
    name: str, status: os.stat_result, stream: Stream, place: int, line: int
) -> FilePosition:
    """Return the position of a file that is shipped up to `place`."""
    head, tail = _hashes(stream, place)
    return FilePosition(
        name=name,
        device=status.st_dev,
        inode=status.st_ino,
        place=place,
        line=line,
        head=head,
        tail=tail,
    )


def _hashes(stream: Stream, place: int) -> tuple[str, str]:
    size = min(place, _SAMPLE_BYTES)
    return _hash(read_at(stream, 0, size)), _hash(read_at(stream, place - size, size))


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


class Positions:
    """Positions of a folder, in one small file that is replaced as a whole."""

    def __init__(self, file: Path) -> None:
        """Take up what was kept.

        Raises:
            RejectedInputError: the file is not one of ours.
        """
        self._file = file
        self._known: dict[tuple[int, int], FilePosition] = {
            (one.device, one.inode): one for one in _load(file)
        }

    def find(self, status: os.stat_result, stream: Stream) -> FilePosition | None:
        """Return how far this file was shipped; None: not at all."""
        known = self._known.get((status.st_dev, status.st_ino))
        if known is not None and _fits(known, stream):
            return known
        head = read_at(stream, 0, _SAMPLE_BYTES)
        return next(
            (one for one in self._known.values() if _begins(one, head) and _fits(one, stream)), None
        )

    def note(self, found: FilePosition) -> None:
        """Keep this, durable when this returns."""
        # What was noted last is kept longest.
        self._known.pop((found.device, found.inode), None)
        self._known[(found.device, found.inode)] = found
        self._save()

    def forget_gone(self, present: set[tuple[int, int]]) -> None:
        """Drop the oldest of the files that are not there."""
        gone = [key for key in self._known if key not in present]
        for key in gone[: max(0, len(gone) - _MOST_GONE)]:
            del self._known[key]

    def _save(self) -> None:
        scratch = self._file.with_suffix(".new")
        with scratch.open("wb") as stream:
            stream.write(msgspec.json.encode(list(self._known.values())))
            stream.flush()
            os.fsync(stream.fileno())
        scratch.replace(self._file)
        folder = os.open(self._file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _begins(known: FilePosition, head: bytes) -> bool:
    return known.head == _hash(head[: known.place])


def _fits(known: FilePosition, stream: Stream) -> bool:
    return (known.head, known.tail) == _hashes(stream, known.place)


def _load(file: Path) -> list[FilePosition]:
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return []
    try:
        return msgspec.json.decode(content, type=list[FilePosition])
    except msgspec.DecodeError as error:
        message = f"{file} is no list of positions ({error}): remove it to ship everything again"
        raise RejectedInputError(message) from error
