import os
from types import SimpleNamespace

import pytest

from lineage.disk import disk_problem


@pytest.fixture
def stats(monkeypatch):
    """Sets what the file system says."""
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
def test_the_disk_that_takes_nothing_is_named(tmp_path, stats, changed, problem):
    stats |= changed

    assert disk_problem(tmp_path) == (problem and f"the disk of {tmp_path} {problem}")


def test_a_folder_that_is_not_there_yet_is_on_the_disk_of_its_parent(tmp_path):
    assert disk_problem(tmp_path / "not" / "yet") is None
