"""Real `lineward up`: a process of its own on free ports, used as people use it."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.service.commandline import environ
from tests.suite.classes import interpreter_variables
from tests.suite.http_client import CLIENT
from tests.suite.ports import free_port
from tests.suite.waiting import until

_ROLES = ("COLLECTOR", "SERVICE", "METRICS")


class Up:
    """Process of `lineward up` on free ports, with its data in `data_dir`."""

    def __init__(
        self, folder: Path, *, log: Path | None = None, output: int | None = None, **settings: str
    ) -> None:
        """Start the process.

        Args:
            folder: for the data folder and, unless passed, the log.
            log: file for its output.
            output: a descriptor in place of that file.
            settings: variables of its environment.
        """
        self.data_dir = folder / "data"
        self.ports = {role: free_port() for role in _ROLES}
        self._settings = {f"LINEWARD_{role}_PORT": str(port) for role, port in self.ports.items()}
        self._settings["LINEWARD_DATA_DIR"] = str(self.data_dir)
        self._settings |= interpreter_variables() | settings
        with (log or folder / "up.log").open("wb") as file:
            target = file if output is None else output
            self.process = subprocess.Popen(
                [sys.executable, "-m", "service.cli.main", "up"],
                env=environ(**self._settings),
                stdout=target,
                stderr=target,
            )

    @property
    def collector(self) -> str:
        """Return the address of the collector."""
        return f"http://127.0.0.1:{self.ports['COLLECTOR']}"

    def metrics(self) -> str:
        """Return the text of `/metrics`; empty before the port is open."""
        try:
            url = f"http://127.0.0.1:{self.ports['METRICS']}/metrics"
            return CLIENT.get(url, timeout=30).text
        except httpx.TransportError:
            return ""

    def accepts(self) -> bool:
        """Return whether the collector answers."""
        try:
            return CLIENT.get(f"{self.collector}/livez", timeout=5).is_success
        except httpx.TransportError:
            return False

    def ask(self, *arguments: str) -> Any:  # noqa: ANN401 - as the command prints it
        """Return the output of `lineward ARGUMENTS --json`, or None before there is one."""
        done = self._command(*arguments, "--json")
        return json.loads(done.stdout) if done.returncode == 0 else None

    def text(self, *arguments: str) -> str:
        """Return the output of `lineward ARGUMENTS` for people."""
        return self._command(*arguments).stdout

    def _command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "service.cli.main", *arguments],
            env=environ(**self._settings),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def role(self, name: str) -> int:
        """Return the process id of a role."""
        roles = json.loads((self.data_dir / "run" / "status.json").read_text())
        return next(role["pid"] for role in roles if role["role"] == name)

    def stop(self) -> None:
        """Stop it as Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(180)
        finally:
            self.process.kill()
            self.process.wait()


@contextmanager
def accepting(
    folder: Path, *, log: Path | None = None, output: int | None = None, **settings: str
) -> Iterator[Up]:
    """Start one, wait until it accepts events, and stop it in the end."""
    up = Up(folder, log=log, output=output, **settings)
    try:
        until(up.accepts)
        yield up
    finally:
        up.stop()
