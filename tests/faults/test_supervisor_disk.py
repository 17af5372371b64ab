"""Check the supervisor with small stand-ins for the roles, on a disk without a free byte."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.service.commandline import environ
from tests.suite.disks import Disk, small_disk
from tests.suite.ports import free_port
from tests.suite.waiting import is_running, until

pytestmark = pytest.mark.faults

_STAND_IN = Path(__file__).parents[1] / "service" / "runtime" / "stand_in.py"
_ROLES = ("collector", "service", "pipeline")


@pytest.fixture
def disk(tmp_path):
    """Mount a disk of 8 MiB."""
    with small_disk(tmp_path / "disk", 8 << 20) as path:
        yield Disk(path)


@pytest.fixture(params=["/dev/full", "log on the same disk"])
def supervisor(request, disk):
    """Start the supervisor; its output goes to a disk that is full as well."""
    port = free_port()
    output = Path(request.param) if request.param.startswith("/") else disk.path / "up.log"
    with output.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, str(_STAND_IN), str(disk.path), str(port)],
            env=environ(),
            stdout=log,
            stderr=log,
        )
    yield process
    process.terminate()
    process.wait(60)


def _pid(disk, role):
    """Return the newest process of the role; None before there is one."""
    with suppress(OSError, IndexError):
        return int((disk.path / f"{role}.pids").read_text().split()[0])
    return None


def _states(disk):
    try:
        roles = json.loads((disk.path / "run" / "status.json").read_text())
    except (OSError, ValueError):
        return {}
    return {role["role"]: (role["state"], role["pid"]) for role in roles}


def test_roles_that_end_on_a_full_disk_are_started_again(disk, supervisor):
    """Kill all roles while neither status, log nor output can be written."""
    until(lambda: all(_pid(disk, role) for role in _ROLES))
    before = {role: _pid(disk, role) for role in _ROLES}
    disk.fill()
    assert disk.is_full()
    for pid in before.values():
        os.kill(pid, signal.SIGKILL)
    until(lambda: not any(is_running(pid) for pid in before.values()))
    assert supervisor.poll() is None

    disk.free()

    until(lambda: all(_pid(disk, role) not in {before[role], None} for role in _ROLES))
    until(lambda: all(_states(disk).get(role) == ("running", _pid(disk, role)) for role in _ROLES))
    assert supervisor.poll() is None
