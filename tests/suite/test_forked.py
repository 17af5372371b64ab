"""Forked command lines: they differ in nothing that is shown from processes with a new Python."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.service.commandline import environ
from tests.suite.forked import ForkingServer


@pytest.fixture(scope="module")
def server():
    running = ForkingServer(environ(LINEWARD_DATA_DIR="/no/such/folder"))
    yield running
    running.stop()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("why",),
        ("datasets", "--no-such"),
        ("datasets",),
        ("policy", "check", "x"),
    ],
    ids=" ".join,
)
def test_a_forked_command_is_like_a_process_of_its_own(server, tmp_path, monkeypatch, arguments):
    """Compare output, errors and exit code in a folder, with settings and a width."""
    monkeypatch.chdir(tmp_path)
    environment = environ(LINEWARD_DATA_DIR=str(tmp_path / "mine"), COLUMNS="90")

    forked = server.run(arguments, environment, 60)

    command = [sys.executable, "-m", "service.cli.main", *arguments]
    own = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        own.returncode,
        own.stdout,
        own.stderr,
    )


def test_a_command_that_takes_too_long_is_ended(server):
    """Raise as `subprocess.run` does, and run the next command."""
    with pytest.raises(subprocess.TimeoutExpired):
        server.run(("--help",), environ(), 0)

    assert server.run(("--help",), environ(), 60).returncode == 0


def test_each_of_several_threads_gets_its_own_exit_code(server):
    """Mutant: without the lock, requests are mixed, or a thread reads the code of another."""
    lines = [("version",), ("why",)] * 20

    with ThreadPoolExecutor(8) as pool:
        codes = [
            done.returncode
            for done in pool.map(lambda each: server.run(each, environ(), 60), lines)
        ]

    assert codes == [0, 2] * 20
