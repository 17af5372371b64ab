"""Small disks that tests fill: a tmpfs, which needs root."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

_CHUNK_BYTES = 1 << 20


class Disk:
    """Mounted disk with a file of ballast."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fill(self, *, leave: int = 0) -> None:
        """Leave only so many bytes free."""
        fill(self.path, leave=leave)

    def free(self) -> None:
        """Delete the ballast."""
        (self.path / "ballast").unlink(missing_ok=True)

    def is_full(self) -> bool:
        """Return whether no page is left."""
        return shutil.disk_usage(self.path).free < 4_096


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


def fill(disk: Path, catalog: Engine | None = None, *, leave: int = 0) -> Path:
    """Fill the disk; return the file whose removal makes space.

    Args:
        disk: the one to fill.
        catalog: on this disk; its log is emptied first, so that its next write needs space.
        leave: bytes that stay free.
    """
    if catalog is not None:
        with catalog.connect() as connection:
            connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
    ballast = disk / "ballast"
    with ballast.open("ab", buffering=0) as file, suppress(OSError):  # another writer was first
        while (free := shutil.disk_usage(disk).free) > leave:
            file.write(b"\0" * min(_CHUNK_BYTES, free - leave))
    return ballast
