"""Small disks that tests fill: a tmpfs, which needs root."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

_BLOCK = b"\0" * 4096


@contextmanager
def small_disk(path: Path, size: int = 16 << 20) -> Iterator[Path]:
    """Mount a disk of `size` bytes at this path, and unmount it in the end."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a small disk")
    path.mkdir()
    subprocess.check_call(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)])
    try:
        yield path
    finally:
        subprocess.check_call(["umount", "--lazy", str(path)])


def fill(disk: Path, catalog: Engine | None = None) -> Path:
    """Fill the disk to its last block; return the file whose removal makes space.

    Args:
        disk: the one to fill.
        catalog: on this disk; its log is emptied first, so that its next write needs space.
    """
    if catalog is not None:
        with catalog.connect() as connection:
            connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
    ballast = disk / "ballast"
    full = pytest.raises(OSError, match="No space left on device")
    with ballast.open("ab", buffering=0) as file, full:
        _write_without_end(file)
    return ballast


def _write_without_end(file: FileIO) -> None:
    while True:
        file.write(_BLOCK)
