"""Position up to which the shipper has moved the spool on to Kafka: a file beside it."""

import os
from pathlib import Path

import msgspec


class ShippedPosition(msgspec.Struct, frozen=True):
    """Last records that Kafka has acknowledged.

    Attributes:
        seq: the last event.
        rejected: the last id of a rejected body.
        gap_ended_at: end of the newest gap, µs.
        last_beat: of the collector before the shipper's goodbye, µs; 0: no goodbye.
    """

    seq: int = 0
    rejected: int = 0
    gap_ended_at: int = 0
    last_beat: int = 0

    @property
    def window(self) -> str:
        """Name the records that follow: those that are sent again have the same name."""
        return f"{self.seq}-{self.rejected}"


def position_path(data_dir: Path) -> Path:
    """Return the path of the file."""
    return data_dir / "shipped.json"


def read_position(data_dir: Path) -> ShippedPosition | None:
    """Return the position; None before the first one.

    Raises:
        OSError: the file cannot be read.
        msgspec.DecodeError: it is damaged.
    """
    try:
        return msgspec.json.decode(position_path(data_dir).read_bytes(), type=ShippedPosition)
    except FileNotFoundError:
        return None


def write_position(data_dir: Path, position: ShippedPosition) -> None:
    """Write the position so that it outlives a power cut: events before it may be deleted."""
    write_durably(position_path(data_dir), msgspec.json.encode(position))


def write_durably(path: Path, content: bytes) -> None:
    """Write a file as a whole, so that it outlives a power cut."""
    temporary = path.with_suffix(".new")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Sync the names of a folder: a file is found after a power cut by its name alone."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
