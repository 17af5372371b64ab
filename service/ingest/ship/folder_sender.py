"""Sender of a folder's event files: each event is sent until the collector has it."""

import os
import stat
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from threading import Event

import msgspec
import structlog

from service.ingest.backfill import BackfillReport
from service.ingest.collector_client import UploadStoppedError
from service.ingest.event_uploader import EventUploader, batch_events
from service.ingest.ship.positions import Positions, position_of_file
from service.ingest.ship.reading import Line, Stream, complete_lines, open_file, read_at

PATTERNS = ("*.jsonl*", "*.ndjson*", "*.json*", "*.log*")
_POLL_SECONDS = 0.5
_log = structlog.get_logger()


class Unfinished(msgspec.Struct, frozen=True):
    """File whose last line is incomplete: a writer is at work, or was killed over it."""

    file: str
    position: int  # its line


class Shipped(BackfillReport):
    """Result for the events, and what is left."""

    unfinished: list[Unfinished] = msgspec.field(default_factory=list)


class FolderSender:
    """Sender of one folder; the caller sees to it that nobody else sends it."""

    def __init__(
        self,
        folder: Path,
        positions: Positions,
        poster: EventUploader,
        patterns: Sequence[str] = PATTERNS,
    ) -> None:
        self._folder = folder
        self._positions = positions
        self._poster = poster
        self._patterns = patterns
        self._exhausted: dict[str, tuple[int, ...]] = {}
        self._unfinished: dict[str, Unfinished] = {}
        self.report = Shipped()

    def follow(self, stopping: Event) -> None:
        """Ship what is written, until stopped."""
        try:
            # Not at the first event: who starts it still reads the log.
            self._poster.wait_for_collector()
            _log.info("collector_reached", folder=str(self._folder))
            while not stopping.is_set():
                if not self.ship():
                    stopping.wait(_POLL_SECONDS)
        except UploadStoppedError:
            return

    def ship_all(self) -> None:
        """Ship until nothing new is there.

        Raises:
            UploadStoppedError: stopped before that.
        """
        while self.ship():
            continue

    def ship(self) -> int:
        """Look once at every file; return how many lines were answered for.

        Raises:
            UploadStoppedError: stopped before that.
        """
        files = self._files()
        shipped = sum(self._ship_file(name) for name, _ in files)
        names = {name for name, _ in files}
        self._positions.forget_gone({key for _, key in files})
        for kept in (self._exhausted, self._unfinished):
            for name in kept.keys() - names:
                kept.pop(name, None)
        self.report.unfinished = list(self._unfinished.values())
        return shipped

    def _files(self) -> list[tuple[str, tuple[int, int]]]:
        """Return names with device and inode, the longest unchanged first."""
        found: list[tuple[int, str, tuple[int, int]]] = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if self._is_ours(entry.name) and (status := _status(entry)):
                    key = (status.st_dev, status.st_ino)
                    found.append((status.st_mtime_ns, entry.name, key))
        return [(name, key) for _, name, key in sorted(found)]

    def _is_ours(self, name: str) -> bool:
        return name[0] != "." and any(fnmatch(name, pattern) for pattern in self._patterns)

    def _ship_file(self, name: str) -> int:
        try:
            with open_file(self._folder / name) as stream:
                status = os.fstat(stream.fileno())
                now = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
                if self._exhausted.get(name) == now:
                    return 0
                shipped = self._ship_stream(name, status, stream)
        except FileNotFoundError:
            return 0  # it was renamed just now, and is found by that name next time
        except OSError as error:
            # The others need not wait for it.
            _log.warning("file_not_read", file=name, reason=str(error))
            return 0
        self._exhausted[name] = now
        return shipped

    def _ship_stream(self, name: str, status: os.stat_result, stream: Stream) -> int:
        known = self._positions.find(status, stream)
        place, line = (known.place, known.line) if known else (0, 1)
        shipped = 0
        for batch in batch_events(complete_lines(stream, place, line)):
            self._post(name, batch)
            shipped += len(batch)
            place, line = batch[-1].end, batch[-1].next_number
            if place:
                # Only now: a process killed before it sends these again, and nothing is doubled.
                self._positions.note(position_of_file(name, status, stream, place, line))
        self._note_rest(name, stream, place, line)
        return shipped

    def _post(self, name: str, batch: list[Line]) -> None:
        events = [line for line in batch if line.body]
        rejected = self._poster.post(
            [event.body for event in events], [f"{name}:{event.number}" for event in events]
        )
        for one in rejected:
            event = events[one.index]
            self.report.reject(name, event.number, one.reason)
            _log.warning(
                "event_rejected",
                file=name,
                line=event.number,
                reason=one.reason,
                kept_by_collector=one.is_kept,
            )
        self.report.taken += len(events) - len(rejected)

    def _note_rest(self, name: str, stream: Stream, place: int, line: int) -> None:
        if read_at(stream, place, 1):
            self._unfinished[name] = Unfinished(name, line)
        else:
            self._unfinished.pop(name, None)


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Return the status of a plain file only: a link would let a name lead out of the folder."""
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None
