"""Free space of the disks that Lineward writes to, and the errors of a disk without any."""

import errno
import os
import sqlite3
from pathlib import Path
from typing import Final

# A write fails with these when the disk, or the quota of its user, is used up.
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
# What may be used up: a write that fails with ENOSPC is SQLITE_FULL, with EDQUOT an I/O error.
_NO_ROOM_OR_QUOTA: Final = frozenset({sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE})
_PRIMARY: Final = 0xFF  # of an extended error code

# Less than one commit of the spool, one batch of the lake and one log line together.
_LEAST_FREE_BYTES = 4 << 20


def disk_problem(*folders: Path) -> str | None:
    """Return why one of these folders cannot be written to; None where all can.

    No file is made: room is requested for a file without a name, and given back.
    """
    found = (_problem(folder.absolute()) for folder in folders)
    return next((problem for problem in found if problem), None)


def is_failed_write(error: OSError) -> bool:
    """Return whether a write failed by its disk: without room, over quota, or broken."""
    return error.errno in _NO_ROOM or error.errno == errno.EIO


def is_out_of_room(error: sqlite3.Error, folder: Path) -> bool:
    """Return whether SQLite failed because the folder's disk, or its own bound, is full."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    if code & _PRIMARY == sqlite3.SQLITE_FULL:
        return True
    return code in _NO_ROOM_OR_QUOTA and disk_problem(folder) is not None


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
    return _missing_room(folder)


def _missing_room(folder: Path) -> str | None:
    """Return why the kernel gives no room here: a quota shows in no figure of the file system."""
    if not hasattr(os, "O_TMPFILE"):  # macOS
        return None
    try:
        unnamed = os.open(_existing(folder), os.O_TMPFILE | os.O_RDWR, 0o600)
        try:
            os.posix_fallocate(unnamed, 0, _LEAST_FREE_BYTES)
        finally:
            os.close(unnamed)
    except OSError as error:
        # Who may not write here, and file systems without such files, say nothing of room.
        if error.errno in _NO_ROOM:
            return f"the disk of {folder} is full ({error.strerror})"
    return None


def _existing(folder: Path) -> Path:
    return next(each for each in (folder, *folder.parents) if each.exists())
