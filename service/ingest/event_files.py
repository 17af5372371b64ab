"""Files of recorded events: one event a line, or JSON documents; plain or gzip."""

import gzip
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path

import msgspec

from service.errors import RejectedInputError

_SUFFIXES = (".jsonl", ".ndjson", ".json", ".log")
_raw = msgspec.json.Decoder(msgspec.Raw)
_raw_list = msgspec.json.Decoder(list[msgspec.Raw])


class RecordedEvent(msgspec.Struct, frozen=True):
    """Event with the bytes that it has in a file, so that a second delivery is a duplicate.

    Attributes:
        position: line of the file, or index in its array, from 1 on.
        problem: why the body is invalid JSON; None: it is valid.
    """

    file: Path
    position: int
    body: bytes
    problem: str | None = None


def files_in(paths: Iterable[Path]) -> list[Path]:
    """List the files of these paths: each file, and every file below a folder, by name.

    Raises:
        RejectedInputError: a path does not exist, or a folder holds no such file.
    """
    found: list[Path] = []
    for path in paths:
        inside = [path] if path.is_file() else sorted(filter(_is_recording, path.rglob("*")))
        if not inside:
            what = "holds no .jsonl, .ndjson or .json file" if path.is_dir() else "does not exist"
            message = f"{path} {what}"
            raise RejectedInputError(message)
        found += inside
    return found


def _is_recording(path: Path) -> bool:
    name = path.name.removesuffix(".gz")
    return path.is_file() and name.endswith(_SUFFIXES)


def events_in(file: Path) -> Iterator[RecordedEvent]:
    """Yield the events of a file in their order.

    Raises:
        RejectedInputError: the file cannot be read, or its gzip is broken.
    """
    try:
        yield from _document(file) if _is_document(file) else _lines(file)
    except (OSError, EOFError) as error:
        message = f"{file}: cannot be read: {error}"
        raise RejectedInputError(message) from error


@contextmanager
def _opened(file: Path) -> Iterator[BufferedIOBase]:
    with file.open("rb") as stream:
        is_gzip = stream.read(2) == b"\x1f\x8b"
        stream.seek(0)
        if is_gzip:
            with gzip.GzipFile(fileobj=stream) as content:
                yield content
        else:
            yield stream


def _is_document(file: Path) -> bool:
    """Return whether a JSON file begins with an array or an incomplete value, not an event."""
    if not file.name.removesuffix(".gz").endswith(".json"):
        return False
    with _opened(file) as stream:
        first = stream.readline().strip()
    return _problem(first) is not None or first.startswith(b"[")


def _document(file: Path) -> Iterator[RecordedEvent]:
    with _opened(file) as stream:
        content = stream.read().strip()
    problem = _problem(content)
    if problem or not content.startswith(b"["):
        yield RecordedEvent(file, 1, content, problem)
        return
    for position, event in enumerate(_raw_list.decode(content), start=1):
        yield RecordedEvent(file, position, bytes(event))


def _lines(file: Path) -> Iterator[RecordedEvent]:
    with _opened(file) as stream:
        for position, line in enumerate(stream, start=1):
            if body := line.strip():
                yield RecordedEvent(file, position, body, _problem(body))


def _problem(body: bytes) -> str | None:
    try:
        _raw.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return f"not JSON: {error}"
    return None
