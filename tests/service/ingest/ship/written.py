"""Events as the file transports write them, and a collector that only remembers."""

import json
from collections.abc import Sequence
from pathlib import Path

from service.ingest.collector_client import UploadStoppedError
from service.ingest.event_uploader import RejectedUpload
from service.ingest.ship.folder_sender import FolderSender
from service.ingest.ship.positions import Positions


def event(number: int, *, padding: int = 0) -> bytes:
    """Return a run event to the byte, without its line's end."""
    event = {
        "eventTime": "2026-11-21T09:00:00Z",
        "producer": "https://example.org/tests",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "eventType": "COMPLETE",
        "run": {"runId": f"0195f1c2-7f8e-7000-8000-{number:012}"},
        "job": {"namespace": "jobs", "name": "etl" + "x" * padding},
        "inputs": [],
        "outputs": [],
    }
    return json.dumps(event, separators=(",", ":")).encode()


def events(begin: int, end: int) -> list[bytes]:
    """Return the events of these numbers."""
    return [event(number) for number in range(begin, end)]


def as_lines(bodies: Sequence[bytes]) -> bytes:
    """Return a file's content."""
    return b"".join(body + b"\n" for body in bodies)


def append(file: Path, bodies: Sequence[bytes]) -> None:
    """Append as the transport does: the file is opened again for it."""
    with file.open("ab") as stream:
        stream.write(as_lines(bodies))


class Memory:
    """Poster that stores bodies in memory; after `dies_after` answers it stops answering."""

    def __init__(self, *, dies_after: int = 1_000_000) -> None:
        self.bodies: list[bytes] = []
        self.where: list[str] = []
        self._left = dies_after

    def post(self, bodies: Sequence[bytes], where: Sequence[str] = ()) -> list[RejectedUpload]:
        """Remember them."""
        self.where += where
        if self._left == 0:
            raise UploadStoppedError
        self._left -= 1
        self.bodies += bodies
        return [
            RejectedUpload(n, "no event")
            for n, body in enumerate(bodies)
            if b"eventTime" not in body
        ]


def shipper(folder: Path, memory: Memory, kind: type[FolderSender] = FolderSender) -> FolderSender:
    """Return the shipper of a new process, which knows only the state's file."""
    return kind(folder, Positions(folder / ".state.json"), memory)  # type: ignore[arg-type]
