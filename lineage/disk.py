"""Free space of the disks that Lineward writes to."""

import os
from pathlib import Path

# Less than one commit of the spool, one batch of the lake and one log line together.
_LEAST_FREE_BYTES = 4 << 20


def disk_problem(*folders: Path) -> str | None:
    """Return why one of these folders cannot be written to; None where all can.

    Looks at the file system only: nothing is written.
    """
    found = (_problem(folder.absolute()) for folder in folders)
    return next((problem for problem in found if problem), None)


def _problem(folder: Path) -> str | None:
    stats = os.statvfs(_existing(folder))
    if stats.f_flag & os.ST_RDONLY:
        return f"the disk of {folder} is read-only"
    free = stats.f_bavail * stats.f_frsize
    if free < _LEAST_FREE_BYTES:
        return f"the disk of {folder} is full ({free / 2**20:.1f} MiB free)"
    # File systems without a fixed number of inodes report 0 of 0.
    if stats.f_files and not stats.f_favail:
        return f"the disk of {folder} is full (no free inodes)"
    return None


def _existing(folder: Path) -> Path:
    return next(each for each in (folder, *folder.parents) if each.exists())
