"""Backfill: events of files, sent to the collector as history unless another origin is given.

A file has one event a line, or JSON documents; it is plain or gzip.
"""

import gzip
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path

import msgspec

from lineage import origins
from lineage.errors import InvalidRequestError
from service.errors import NotRunningError, RejectedInputError
from service.ingest.collector_client import (
    CollectorClient,
    Target,
    UnansweredError,
    read_token_file,
)
from service.ingest.event_uploader import EventUploader, batch_events
from service.runtime.settings import Settings

_SUFFIXES = (".jsonl", ".ndjson", ".json", ".log")
_raw = msgspec.json.Decoder(msgspec.Raw)
_raw_list = msgspec.json.Decoder(list[msgspec.Raw])

_MOST_LISTED = 100

_RETRY_SECONDS = 60.0


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

    Below a folder, names that begin with a dot are left out: `lineward ship` stores its positions
    in such a folder.

    Raises:
        InvalidRequestError: a path does not exist, or a folder holds no such file.
    """
    found: list[Path] = []
    for path in paths:
        inside = [path] if path.is_file() else _recordings_below(path)
        if not inside:
            what = "holds no .jsonl, .ndjson or .json file" if path.is_dir() else "does not exist"
            message = f"{path} {what}"
            raise InvalidRequestError(message)
        found += inside
    return found


def _recordings_below(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if _is_recording(path) and not _is_hidden(path.relative_to(folder))
    )


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


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


class RejectedFileEvent(msgspec.Struct, frozen=True):
    """Event that was rejected; `position` is its line, or its index in an array."""

    file: str
    position: int
    reason: str


class BackfillReport(msgspec.Struct):
    """Counts of accepted and rejected events; a duplicate counts as accepted."""

    taken: int = 0
    rejected: int = msgspec.field(default=0, name="refused")
    rejections: list[RejectedFileEvent] = msgspec.field(default_factory=list, name="refusals")
    partial: bool = False
    partial_reason: str | None = None

    def reject(self, file: str, position: int, reason: str) -> None:
        """Count a rejected event; list it if the list has room."""
        self.rejected += 1
        if len(self.rejections) < _MOST_LISTED:
            self.rejections.append(RejectedFileEvent(file, position, reason))
        else:
            self.partial = True
            self.partial_reason = f"only the first {_MOST_LISTED} rejections are listed"


class BatchSender:
    """Sender of batches to one collector; it tries again while that is busy or restarts."""

    def __init__(
        self,
        settings: Settings,
        *,
        origin: str = origins.HISTORY,
        retry_seconds: float = _RETRY_SECONDS,
    ) -> None:
        self.settings = settings
        self._target = Target(
            url=settings.collector,
            origin=origin,
            token_file=settings.collector_token_file,
            secret_file=settings.sender_secret,
        )
        self._reach = CollectorClient(self._target, give_up_seconds=retry_seconds)
        self._poster = EventUploader(self._reach)
        self.report = BackfillReport()

    def require_collector(self) -> None:
        """See that it is there before anything is read.

        Raises:
            NotRunningError: nobody listens at its address.
            RejectedInputError: the token's file cannot be read.
        """
        if self._target.token_file is not None:
            read_token_file(self._target.token_file)
        if not self._reach.is_there():
            raise self._not_running("")

    def send(self, events: Iterable[RecordedEvent]) -> Iterator[int]:
        """Send them all, in their order; yields how many each batch held.

        Raises:
            NotRunningError: the collector went away and did not come back in time.
            RejectedInputError: it asks for a token, or for another one.
        """
        for lot in batch_events(events):
            for event in lot:
                if event.problem is not None:
                    self._reject(event, event.problem)
            if sound := [event for event in lot if event.problem is None]:
                self._post(sound)
            yield len(lot)

    def _post(self, batch: list[RecordedEvent]) -> None:
        try:
            rejected = self._poster.post(
                [event.body for event in batch],
                [f"{event.file}:{event.position}" for event in batch],
            )
        except UnansweredError as error:
            raise self._not_running(f" ({error})") from error
        for one in rejected:
            self._reject(batch[one.index], one.reason)
        self.report.taken += len(batch) - len(rejected)

    def _reject(self, event: RecordedEvent, reason: str) -> None:
        self.report.reject(str(event.file), event.position, reason)

    def _not_running(self, how: str) -> NotRunningError:
        taken = f" {self.report.taken} events were taken." if self.report.taken else ""
        message = (
            f"the collector does not answer at {self._target.url}{how}: start it with"
            f" `lineward up`.{taken} Running the command again sends nothing twice."
        )
        return NotRunningError(message)
