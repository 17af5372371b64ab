import errno
import os
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest

from lineage.process.disk import disk_problem, is_failed_write, is_out_of_room


@pytest.fixture
def stats(monkeypatch):
    """Set the figures of the file system."""
    found = {"f_flag": 0, "f_bavail": 10_000, "f_frsize": 4_096, "f_files": 10, "f_favail": 5}
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(**found))
    return found


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({}, None),
        ({"f_bavail": 0}, "is full (0.0 MiB free)"),
        ({"f_bavail": 512}, "is full (2.0 MiB free)"),
        ({"f_bavail": 1_024}, None),
        ({"f_favail": 0}, "is full (no free inodes)"),
        ({"f_files": 0, "f_favail": 0}, None),
        ({"f_flag": os.ST_RDONLY}, "is read-only"),
    ],
)
def test_the_full_disk_is_named(tmp_path, stats, changed, problem):
    stats |= changed

    assert disk_problem(tmp_path) == (problem and f"the disk of {tmp_path} {problem}")


@pytest.mark.parametrize("call", ["open", "posix_fallocate"])
@pytest.mark.parametrize("code", [errno.EDQUOT, errno.ENOSPC])
def test_a_quota_that_is_used_up_is_a_full_disk(tmp_path, monkeypatch, call, code):
    """Report a full disk although the file system has free blocks."""
    monkeypatch.setattr(os, call, _fail_with(code))

    assert disk_problem(tmp_path) == f"the disk of {tmp_path} is full ({os.strerror(code)})"


@pytest.mark.parametrize("code", [errno.EACCES, errno.EOPNOTSUPP, errno.EISDIR])
def test_a_folder_where_no_room_can_be_requested_is_no_problem(tmp_path, monkeypatch, code):
    """Ignore quotas of another user, or of a file system without unnamed files."""
    monkeypatch.setattr(os, "open", _fail_with(code))

    assert disk_problem(tmp_path) is None


def _descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


def test_the_check_leaves_nothing_behind(tmp_path):
    """Leave neither a file nor an open descriptor."""
    before = _descriptors()

    assert disk_problem(tmp_path) is None

    assert (list(tmp_path.iterdir()), _descriptors()) == ([], before)


@pytest.mark.parametrize(
    ("code", "failed"),
    [(errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EIO, True), (errno.EACCES, False)],
)
def test_a_write_that_the_disk_failed(code, failed):
    assert is_failed_write(OSError(code, os.strerror(code))) is failed


@pytest.mark.parametrize(
    ("code", "quota", "expected"),
    [
        (sqlite3.SQLITE_FULL, False, True),
        (sqlite3.SQLITE_IOERR_WRITE, True, True),
        (sqlite3.SQLITE_IOERR_SHMSIZE, True, True),
        (sqlite3.SQLITE_IOERR_WRITE, False, False),
        (sqlite3.SQLITE_IOERR_FSYNC, True, False),
    ],
)
def test_sqlite_disk_errors_are_recognized(tmp_path, monkeypatch, code, quota, expected):
    """Recognize a quota by SQLite's "disk I/O error", as of a broken disk."""
    if quota:
        monkeypatch.setattr(os, "posix_fallocate", _fail_with(errno.EDQUOT))
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code

    assert is_out_of_room(error, tmp_path) is expected


def _fail_with(code):
    """Return a call of the operating system that fails with this error."""

    def fail(*_given: object):
        raise OSError(code, os.strerror(code))

    return fail


def test_a_folder_that_is_not_there_yet_is_on_the_disk_of_its_parent(tmp_path):
    assert disk_problem(tmp_path / "not" / "yet") is None
