"""Check `lineward up` on a full disk: it goes on, shows the reason, and recovers by itself."""

import os
import signal
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest

from tests.collector.bodies import body, new_body, run_event
from tests.e2e.running import accepting
from tests.suite.disks import Disk, small_disk
from tests.suite.http_client import CLIENT
from tests.suite.waiting import is_running, until

pytestmark = pytest.mark.faults

_DISK_BYTES = 96 << 20


@pytest.fixture
def disk(tmp_path):
    """Mount a small disk."""
    with small_disk(tmp_path / "disk", _DISK_BYTES) as path:
        yield Disk(path)


def _post(up, raw):
    try:
        return CLIENT.post(f"{up.collector}/api/v1/lineage", content=raw, timeout=30)
    except httpx.TransportError:
        return None


def _stores(up):
    answer = _post(up, new_body())
    return answer is not None and answer.status_code == 201


def _answers_503(up):
    """Return whether the collector answers 503 to an event that is larger than what is left."""
    answer = _post(up, body(run_event(filling=os.urandom(30_000).hex())))
    if answer is None or answer.status_code != 503:
        return False
    return int(answer.headers["retry-after"]) >= 1


def landed(up):
    """Return the position up to which events have landed."""
    try:
        with closing(
            sqlite3.connect(f"file:{up.data_dir}/catalog.db?mode=ro", uri=True)
        ) as catalog:
            return catalog.execute("SELECT seq FROM reader_cursor").fetchone()[0]
    except (sqlite3.Error, TypeError):
        return 0


def _last_seq(up):
    with closing(sqlite3.connect(f"file:{up.data_dir}/spool.db?mode=ro", uri=True)) as spool:
        return spool.execute("SELECT max(seq) FROM event").fetchone()[0]


def _is_waiting(up):
    """Return whether the pipeline waits for the disk, as `lineward status` shows it."""
    return f"pipeline: waiting: the disk of {up.data_dir} is full" in up.text("status")


def _is_waiting_once_full(up, disk):
    """Fill the disk, and kill the pipeline, whose end frees room in which it may start again."""
    disk.fill(leave=2 << 20)
    if pipeline := up.role("pipeline"):
        with suppress(ProcessLookupError):
            os.kill(pipeline, signal.SIGKILL)
    return _is_waiting(up)


def test_up_survives_a_full_disk_and_resumes_by_itself(disk, tmp_path):
    """Kill roles meanwhile: the supervisor, which cannot write a byte, starts them again."""
    with accepting(disk.path, log=tmp_path / "up.log") as up:
        until(lambda: _stores(up))
        until(lambda: up.role("service") and up.role("pipeline"))
        disk.fill()
        assert disk.is_full()

        until(lambda: _answers_503(up))
        os.kill(up.role("pipeline"), signal.SIGKILL)
        os.kill(up.role("service"), signal.SIGKILL)
        until(lambda: f"the disk of {up.data_dir} is full" in up.text("status"), pause=1)
        assert up.process.poll() is None
        assert up.accepts()

        disk.free()
        until(lambda: _stores(up))
        until(lambda: set(_states(up).values()) <= {"running", "failing"}, pause=1)
        last = _last_seq(up)
        until(lambda: landed(up) >= last, pause=0.5, describe=lambda: up.text("status"))
        until(lambda: set(_states(up).values()) == {"running"}, pause=1)
        assert up.process.poll() is None
        assert "Traceback" not in (tmp_path / "up.log").read_text()


def test_the_pipeline_waits_for_a_disk_that_is_nearly_full(disk, tmp_path):
    """Leave a little room, as on a real disk, so that the status can be written."""
    with accepting(disk.path, log=tmp_path / "up.log") as up:
        until(lambda: up.role("service") and up.role("pipeline"))
        until(lambda: _is_waiting_once_full(up, disk), pause=1, describe=lambda: up.text("status"))
        assert up.role("pipeline") is None
        assert _stores(up)

        disk.free()
        until(lambda: up.role("pipeline"))


def test_the_pipeline_waits_for_a_disk_that_fills_while_spark_starts(disk, tmp_path):
    """Fill the disk while Java starts: Java and Python would wait for each other without end."""
    with accepting(disk.path, log=tmp_path / "up.log") as up:
        until(lambda: _stores(up))
        starting = until(lambda: up.role("pipeline"))
        until(lambda: _has_child(starting))  # Java
        disk.fill()
        until(lambda: not is_running(starting))

        disk.free()
        until(lambda: _stores(up))
        last = _last_seq(up)
        until(lambda: landed(up) >= last, pause=0.5, describe=lambda: up.text("status"))


def test_the_first_up_on_a_full_disk_waits_and_stops_cleanly(disk, tmp_path):
    """Start where neither spool, catalog nor lock can be written, and stop by SIGINT."""
    disk.fill()
    log = tmp_path / "up.log"
    with accepting(disk.path, log=log) as up:
        until(lambda: _answers_503(up))
        until(lambda: f"the disk of {up.data_dir} is full" in up.text("status"), pause=1)
        up.process.send_signal(signal.SIGINT)
        assert up.process.wait(60) == 0

    written = log.read_text()
    assert f"the disk of {up.data_dir} is full" in written
    assert "Traceback" not in written


def test_the_first_up_goes_on_once_the_full_disk_has_room(disk, tmp_path):
    """Start on a full disk, then make room: all roles run without another start."""
    disk.fill()
    with accepting(disk.path, log=tmp_path / "up.log") as up:
        until(lambda: _answers_503(up))

        disk.free()

        until(lambda: _stores(up))
        until(lambda: set(_states(up).values()) == {"running"}, pause=1)


def test_up_does_not_need_its_terminal(tmp_path):
    """Close the pipe that its output goes to, and kill a role: the role is started again."""
    read, write = os.pipe()
    with accepting(tmp_path, output=write) as up:
        os.close(write)
        os.close(read)
        before = until(lambda: up.role("service"))
        os.kill(before, signal.SIGKILL)

        until(lambda: up.role("service") not in {before, None})
        assert up.process.poll() is None


def _has_child(pid):
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return any(task.read_text(encoding="ascii").strip() for task in tasks)


def _states(up):
    status = up.ask("status")
    return {role["role"]: role["state"] for role in status["roles"]} if status else {"": ""}
