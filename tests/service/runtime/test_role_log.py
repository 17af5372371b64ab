import os

import pytest

from service.runtime.role_log import RoleLog


@pytest.fixture
def log(tmp_path):
    return RoleLog(tmp_path / "logs" / "pipeline.log", max_bytes=1_000)


def test_a_log_that_grew_too_large_is_moved_aside_while_it_is_written(log):
    """Copy it, and let the role continue at the start of an empty file."""
    with log.open() as role:
        role.write(b"a" * 1_001)
        role.flush()
        log.trim()
        role.write(b"after")
        role.flush()

    assert log.path.read_bytes() == b"after"
    assert log.path.with_suffix(".log.1").read_bytes() == b"a" * 1_001


def test_a_log_within_its_bound_is_left_alone(log):
    with log.open() as role:
        role.write(b"a" * 1_000)
    log.trim()

    assert log.path.stat().st_size == 1_000


@pytest.mark.parametrize(("size", "left"), [(1_500, 1_500), (2_000, 2_000), (2_001, 0)])
def test_without_room_to_copy_twice_the_bound_is_the_most(log, size, left):
    """Bound the log if no copy can be made, here as a folder is in the way."""
    with log.open() as role:
        role.write(b"a" * size)
    log.path.with_suffix(".log.1").mkdir()
    log.trim()

    assert log.path.stat().st_size == left


@pytest.mark.parametrize(
    ("written", "error"),
    [
        ('{"event": "pipeline_stopped", "error": "no\\n room"}\n', "pipeline_stopped: no room"),
        ('{"event": "service_cannot_start", "reason": "taken"}\n', "service_cannot_start: taken"),
        ('{"event": "stream_started"}\n', "stream_started"),
        ("Traceback\n  File\nOSError: gone\n\n", "OSError: gone"),
        ("[1, 2]\n", "[1, 2]"),
        ("x" * 900, "x" * 500),
    ],
)
def test_the_last_line_is_the_error(log, written, error):
    with log.open() as role:
        role.write(written.encode())

    assert log.last_error() == error


def test_a_log_that_cannot_be_opened_stops_no_role(tmp_path):
    """Use no log if `logs` is a file, or the log is a folder."""
    (tmp_path / "logs").write_text("a file")
    with RoleLog(tmp_path / "logs" / "pipeline.log").open() as role:
        assert role.name == os.devnull
    (tmp_path / "service.log").mkdir()
    with RoleLog(tmp_path / "service.log").open() as role:
        assert role.name == os.devnull
    assert RoleLog(tmp_path / "none.log").last_error() is None
