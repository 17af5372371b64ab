"""Small disks that a file of ballast fills, to the last byte or nearly."""

import contextlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.suite import disks


class Disk:
    """Disk that a test fills and frees."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fill(self, *, leave: int = 0) -> None:
        """Fill the disk but for so many bytes."""
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
    """Mount a disk of this size, and unmount it in the end."""
    with disks.small_disk(path, mebibytes << 20) as mounted:
        yield Disk(mounted)
