import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.demos import ANY_PORTS
from tests.service.commandline import environ, lineward
from tests.service.waiting import until

pytestmark = pytest.mark.e2e

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Start]:
    """Starts a demo whose processes are known by the name of their temporary folder."""
    started: list[subprocess.Popen[str]] = []
    temporary = tmp_path / "t"
    temporary.mkdir()

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-u", "-m", "service.cli", "demo", *arguments],
            env=environ(TMPDIR=str(temporary), **ANY_PORTS),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
    for pid in _processes(temporary):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _processes(temporary: Path) -> list[int]:
    """Processes that were started with this folder in their environment, save zombies and us."""
    marked = f"TMPDIR={temporary}".encode()
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if marked in environment.read_bytes().split(b"\0"):
                found.append(int(environment.parent.name))
        except (PermissionError, FileNotFoundError, ProcessLookupError):
            continue
    return found


def _said(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdout
    for line in process.stdout:
        if word in line:
            return
    pytest.fail(f"the demo ended before it said {word!r}")


def test_once_shows_all_four_states_and_leaves_nothing(demo: Start, tmp_path: Path):
    """Exit 0, the SLIs, each dataset with its reason and owner; no process and no file is left."""
    process = demo("--once")

    said, _ = process.communicate(timeout=900)

    assert process.returncode == 0, said
    for row in (
        ("ref/rates", "bad", "lineage_missing", "platform", "critical"),
        ("mart/churn", "bad", "job_failed", "marketing", "important"),
        ("mart/stock", "unknown", "ingestion_gap", "warehouse", "important"),
        ("mart/segments", "learning", "marketing"),
    ):
        assert any(all(word in line for word in row) for line in said.splitlines()), said
    for sli in ("coverage", "edge_completeness", "accuracy", "error_rate"):
        assert sli in said
    until(lambda: _processes(tmp_path / "t") == [])  # the kernel ends them when it comes to it
    assert list((tmp_path / "t").glob("lineward-demo-*")) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130)])
def test_a_stop_in_the_middle_leaves_nothing(demo: Start, tmp_path: Path, number, code):
    """Ctrl-C while a job runs and the collector stands still: all of it ends."""
    process = demo()
    _said(process, "falls due at")

    process.send_signal(number)
    # It gives `up` 75 s, which a young pipeline on a busy machine needs.
    process.communicate(timeout=300)

    assert process.returncode == code
    until(lambda: _processes(tmp_path / "t") == [])  # the kernel ends them when it comes to it
    assert list((tmp_path / "t").glob("lineward-demo-*")) == []


def test_a_killed_demo_leaves_no_process(demo: Start, tmp_path: Path):
    """-9 has no time to clean up: `up` and the job end with it by the kernel's word."""
    process = demo()
    _said(process, "rates")
    until(lambda: len(_processes(tmp_path / "t")) > 4)

    process.kill()
    process.communicate(timeout=60)

    until(lambda: _processes(tmp_path / "t") == [])


def test_a_port_in_use_is_one_sentence():
    """Before anything is started, with the variable to set."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = lineward("demo", **ANY_PORTS | {"LINEWARD_COLLECTOR_PORT": port})

    assert done.returncode == 7
    assert done.stdout == ""
    assert done.stderr == (
        f"lineward: cannot listen on 127.0.0.1:{port} (Address already in use):"
        " set LINEWARD_COLLECTOR_PORT to a free port\n"
    )


def test_a_folder_in_use_is_refused(tmp_path: Path):
    """The demo would mix its shop with what is there, and remove none of it."""
    (tmp_path / "mine").touch()

    done = lineward("demo", "--data-dir", str(tmp_path), **ANY_PORTS)

    assert done.returncode == 6
    assert "is not empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_somebodys_catalog_is_left_alone(tmp_path: Path):
    """A shop of play data would stand among the real ones."""
    done = lineward("demo", LINEWARD_CATALOG_URL=f"sqlite:///{tmp_path}/real.db", **ANY_PORTS)

    assert done.returncode == 6
    assert "unset LINEWARD_CATALOG_URL" in done.stderr
    assert list(tmp_path.iterdir()) == []
