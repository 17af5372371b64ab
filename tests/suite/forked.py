"""Server of command lines: it has imported all commands, and forks a process for each.

Imports take most of a command's CPU. The process of a command has arguments, environment, folder,
output and exit code of its own, as one that a person starts.
"""

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import IO, Any, Final

from service.cli.commands.command_table import COMMANDS

_COMMAND: Final = "service.cli.main"
# Imported by the first query of a process, as it needs them.
_LATER: Final = ("service.queries.catalog_session", "sqlalchemy.dialects.sqlite", "psycopg")
_CHECK_SECONDS: Final = 0.005


class ForkingServer:
    """Process that runs command lines, one after another, until this process ends."""

    def __init__(self, environment: dict[str, str]) -> None:
        """Start it; a command inherits nothing of this environment."""
        self._asking = Lock()  # tests with threads would mix requests, and take each other's codes
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self, arguments: tuple[str, ...], environment: dict[str, str], seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run `lineward ARGUMENTS`, for so many seconds at most."""
        with TemporaryDirectory() as folder:
            output = [Path(folder, name) for name in ("stdout", "stderr")]
            for file in output:
                file.touch()
            request = {
                "arguments": arguments,
                "environment": environment,
                "folder": str(Path.cwd()),
                "output": folder,
                "seconds": seconds,
            }
            with self._asking:
                print(json.dumps(request), file=_given(self._process.stdin), flush=True)
                code = json.loads(_given(self._process.stdout).readline())
            out, err = (file.read_text() for file in output)
        if code is None:
            raise subprocess.TimeoutExpired(arguments, seconds, out, err)
        return subprocess.CompletedProcess(arguments, code, out, err)

    def stop(self) -> None:
        """End it."""
        _given(self._process.stdin).close()
        self._process.wait()


def _given(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def _serve() -> dict[str, Any] | None:
    """Fork a process for each request; return its request in that process, None at the end."""
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        process = os.fork()
        if process == 0:
            return request
        code = _wait(process, request["seconds"])
        sys.stdout.write(f"{json.dumps(code)}\n")
        sys.stdout.flush()
    return None


def _wait(process: int, seconds: float) -> int | None:
    """Return the exit code of the process; None if it has to be killed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_CHECK_SECONDS)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


def _run(request: dict[str, Any]) -> None:
    """Run the command in this process."""
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.chdir(request["folder"])
    output = Path(request["output"])
    for number, file in enumerate((Path(os.devnull), output / "stdout", output / "stderr")):
        os.dup2(os.open(file, os.O_RDWR), number)
    command = importlib.import_module(_COMMAND)
    # As `python -m` sets both: usage texts begin with them.
    sys.modules["__main__"] = command
    sys.argv = [str(command.__file__), *request["arguments"]]
    command.main()


if __name__ == "__main__":
    for _name in (_COMMAND, *_LATER, *(known.module for known in COMMANDS.values())):
        importlib.import_module(_name)
    gc.freeze()
    if _request := _serve():
        _run(_request)
