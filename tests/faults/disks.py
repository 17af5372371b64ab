"""Small disks for fault runs: a tmpfs that a file of ballast fills to the last byte."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class Disk:
    """Mounted tmpfs."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fill(self, *, leave: int = 0) -> None:
        """Leave only so many bytes free."""
        with (self.path / "ballast").open("ab", buffering=0) as ballast:
            for size in (1 << 20, 4_096):
                with contextlib.suppress(OSError):
                    while shutil.disk_usage(self.path).free > leave:
                        ballast.write(b"0" * size)

    def free(self) -> None:
        """Delete the ballast."""
        (self.path / "ballast").unlink(missing_ok=True)

    def is_full(self) -> bool:
        """Return whether no page is left."""
        return shutil.disk_usage(self.path).free < 4_096


@contextmanager
def small_disk(path: Path, mebibytes: int) -> Iterator[Disk]:
    """Mount a disk of that size at `path`; skip the test without permission to mount."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a small disk")
    path.mkdir()
    size = f"size={mebibytes}m"
    subprocess.check_call(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(path)])
    try:
        yield Disk(path)
    finally:
        subprocess.check_call(["umount", "--lazy", str(path)])
