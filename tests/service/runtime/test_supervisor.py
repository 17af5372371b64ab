import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import text

from lineage.catalog.engine import write_transaction
from service.runtime import run_folder
from service.runtime.child import Child, RoleCommand
from service.runtime.data_folder import hold_folder
from tests.service.commandline import environ, lineward
from tests.suite.ports import free_port
from tests.suite.waiting import is_running, until

STAND_IN = Path(__file__).with_name("stand_in.py")
ROLES = ("collector", "service", "pipeline")
Up = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    """Return a function that starts a supervisor of three stand-ins and waits until they run."""
    started: list[subprocess.Popen[str]] = []

    def start(*more: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, str(STAND_IN), str(tmp_path), str(free_port()), *more],
            env=environ(),
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        until(lambda: all((tmp_path / f"{role}.pids").exists() for role in ROLES))
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
    for pid in _all_pids(tmp_path):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _pids(folder: Path, role: str) -> list[int]:
    return [int(pid) for pid in (folder / f"{role}.pids").read_text().split()]


def _all_pids(folder: Path) -> list[int]:
    return [pid for role in ROLES for pid in _pids(folder, role)]


def _none_lives(folder: Path) -> bool:
    """Return whether no process is left; the kernel ends a killed one a moment later."""
    return not any(is_running(pid) for pid in _all_pids(folder))


@pytest.mark.parametrize("role", ROLES)
def test_a_killed_role_is_started_again(tmp_path: Path, up: Up, role):
    """Kill -9: a new process of that role, the old one's own child gone, the others untouched."""
    up()
    before = {name: _pids(tmp_path, name) for name in ROLES}

    os.kill(before[role][0], signal.SIGKILL)

    until(lambda: _pids(tmp_path, role) != before[role])
    until(lambda: not is_running(before[role][1]))
    others = [name for name in ROLES if name != role]
    assert {name: _pids(tmp_path, name) for name in others} == {n: before[n] for n in others}


def test_the_status_file_counts_restarts(tmp_path: Path, up: Up):
    """Show the role that died once as in `lineward status`."""
    up()
    os.kill(_pids(tmp_path, "service")[0], signal.SIGKILL)

    def restarted():
        roles = json.loads((tmp_path / "run" / "status.json").read_text())
        return next((r for r in roles if r["restarts"] == 1 and r["state"] == "running"), None)

    assert until(restarted)["role"] == "service"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_is_clean_and_the_collector_stops_last(tmp_path: Path, up: Up, number):
    """Let each role end by itself, serve senders to the end, and leave no process."""
    supervisor = up()

    supervisor.send_signal(number)

    assert supervisor.wait(30) == 0
    ended = (tmp_path / "ended").read_text().split()
    assert sorted(ended) == sorted(ROLES)
    assert ended[-1] == "collector"
    until(lambda: _none_lives(tmp_path))


def test_a_role_that_does_not_end_is_killed(tmp_path: Path, up: Up):
    """Kill a pipeline that ignores SIGTERM after its allowed time."""
    supervisor = up("stubborn")

    supervisor.terminate()
    message, _ = supervisor.communicate(timeout=30)

    assert "pipeline did not stop in time and was killed" in message
    until(lambda: _none_lives(tmp_path))


def test_the_roles_die_with_a_killed_supervisor(tmp_path: Path, up: Up):
    """Kill -9 of the supervisor leaves no role behind to hold ports and files."""
    supervisor = up()
    roles = [_pids(tmp_path, role)[0] for role in ROLES]

    supervisor.kill()

    until(lambda: not any(is_running(pid) for pid in roles))


def test_a_second_up_on_the_same_folder_is_rejected(tmp_path: Path):
    """Print one sentence and exit with 7: two collectors would share one spool."""
    with hold_folder(tmp_path / "run" / "up.lock"):
        second = lineward("up", "--data-dir", str(tmp_path))

    assert second.returncode == 7
    assert f"`lineward up` already runs on {tmp_path} (pid {os.getpid()})" in second.stderr
    assert second.stderr.count("\n") == 1


def test_a_port_in_use_is_one_sentence(tmp_path: Path):
    """Name the address and the variable to set."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = lineward("up", "--data-dir", str(tmp_path), LINEWARD_METRICS_PORT=str(port))

    assert done.returncode == 7
    assert done.stderr == (
        f"lineward: cannot listen on 127.0.0.1:{port} (Address already in use):"
        " set LINEWARD_METRICS_PORT to a free port\n"
    )


def test_an_invalid_policy_prevents_the_start(tmp_path: Path):
    """Name line and path before any role runs."""
    policy = tmp_path / "lineward.yaml"
    policy.write_text("datasetz: []\n")

    done = lineward("up", "--data-dir", str(tmp_path / "data"), "--policy", str(policy))

    assert done.returncode == 6
    assert "lineward.yaml" in done.stderr
    assert "datasetz" in done.stderr
    assert not (tmp_path / "data").exists()


def test_a_requested_restart_starts_the_role_again(tmp_path: Path, up: Up):
    """Start another process of it once, and leave other roles alone."""
    up()
    before = {name: _pids(tmp_path, name) for name in ROLES}

    run_folder.request_restart(tmp_path, "service")

    until(lambda: _pids(tmp_path, "service") != before["service"])
    until(lambda: _restarts(tmp_path) == {"collector": 0, "service": 1, "pipeline": 0})
    others = {name: _pids(tmp_path, name) for name in ("collector", "pipeline")}
    assert others == {name: before[name] for name in others}
    assert list(run_folder.take_restart_requests(tmp_path)) == []


def test_a_role_that_does_not_end_in_its_time_is_killed_for_a_restart(tmp_path: Path, up: Up):
    """Kill a role that hangs, which is why its restart was requested."""
    up("stubborn")
    before = _pids(tmp_path, "pipeline")

    run_folder.request_restart(tmp_path, "pipeline")

    until(lambda: _pids(tmp_path, "pipeline") != before)
    until(lambda: not is_running(before[1]))


def test_requests_to_an_earlier_supervisor_are_dropped(tmp_path: Path, up: Up):
    """Ignore a name that is no role."""
    (tmp_path / "run").mkdir()
    run_folder.request_restart(tmp_path, "service")
    up()
    run_folder.request_restart(tmp_path, "../collector".replace("/", "_"))
    until(lambda: not list((tmp_path / "run").glob("restart-*")))
    run_folder.request_restart(tmp_path, "pipeline")

    # What was asked before would have been done before.
    until(lambda: _restarts(tmp_path)["pipeline"] == 1)
    assert _restarts(tmp_path) == {"collector": 0, "service": 0, "pipeline": 1}


def _restarts(folder: Path) -> dict[str, int]:
    roles = json.loads((folder / "run" / "status.json").read_text())
    return {role["role"]: role["restarts"] for role in roles}


def test_a_role_is_nice_with_its_session(tmp_path):
    """Give way to users who wait for an answer while batches use all cores."""
    shown = "import os, sys; print(os.nice(0), *(open(each).read() for each in sys.argv[1:]))"
    groups = [str(each) for each in [Path("/proc/self/autogroup")] if each.exists()]
    command = RoleCommand(role="pipeline", argv=(sys.executable, "-c", shown, *groups), nice=3)
    child = Child(command, os.environ, tmp_path / "log")
    child.start()
    assert until(lambda: child.exited() is not None)

    niceness, _, session = (tmp_path / "log").read_text().partition(" ")
    assert int(niceness) == min(os.nice(0) + 3, 19)
    assert "nice 3" in session or not groups


def test_a_role_that_does_not_answer_is_started_again(tmp_path: Path, up: Up):
    """Restart a service that listens and does not answer `/livez`."""
    up("silent")
    before = _pids(tmp_path, "service")

    until(lambda: _pids(tmp_path, "service") != before)
    until(lambda: not is_running(before[0]))
    role = until(lambda: next((r for r in _roles(tmp_path) if r["error"]), None))
    assert (role["role"], role["error"]) == ("service", "did not answer for 5 s")


def test_an_up_of_an_older_release_leaves_a_newer_catalog_alone(tmp_path: Path, embedded):
    """Exit before any role starts, with what to do."""
    with write_transaction(embedded) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0042'"))

    done = lineward("up", "--data-dir", str(tmp_path))

    assert done.returncode == 6
    assert "the catalog is at revision 0042, and this release knows revisions up to" in done.stderr
    assert "Run that release, or restore the catalog" in done.stderr
    assert not (tmp_path / "logs").exists()


def _roles(folder: Path) -> list[dict]:
    return json.loads((folder / "run" / "status.json").read_text())
