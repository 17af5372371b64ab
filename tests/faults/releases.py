"""Roles of this release and of the one before, on one catalog and one spool."""

import io
import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import httpx

from tests.service.commandline import ROOT, environ
from tests.suite.http_client import CLIENT
from tests.suite.ports import free_port
from tests.suite.waiting import until

# Last commit of the release without Kafka, a lake in a bucket, and partitions.
BEFORE = "04f276126572b0257ae9af2f41db0e83fbca4140"
_MODULES = {"collector": "collector", "pipeline": "slis", "service": "service"}


def extract_release(folder: Path) -> Path:
    """Write the code of the previous release to a folder; it runs in this virtual environment."""
    argv = ["git", "archive", BEFORE]
    archive = subprocess.run(argv, cwd=ROOT, capture_output=True, check=False)
    assert archive.returncode == 0, (
        f"this clone lacks commit {BEFORE[:8]}, the release before: `git fetch --unshallow`"
    )
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


class Roles:
    """Collector, pipeline and service, each of one release or the other.

    Attributes:
        url: of the collector, whatever its release.
    """

    def __init__(self, folder: Path, catalog_url: str) -> None:
        """Start nothing yet."""
        self._folder = folder
        self._ports = {name: free_port() for name in ("COLLECTOR", "SERVICE", "METRICS")}
        self._settings = {
            "LINEWARD_DATA_DIR": str(folder / "data"),
            "LINEWARD_CATALOG_URL": catalog_url,
            "LINEWARD_PIPELINE_EVALUATE_SECONDS": "3600",
            **{f"LINEWARD_{name}_PORT": f"{port}" for name, port in self._ports.items()},
        }
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.url = f"http://127.0.0.1:{self._ports['COLLECTOR']}"

    def start(self, role: str, code: Path) -> None:
        """Start a role of the release that is in the folder `code`."""
        environment = environ(**self._settings) | {"PYTHONPATH": str(code)}
        with self._log(role).open("ab") as log:
            given = {"cwd": code, "env": environment, "stdout": log, "stderr": log}
            self._processes[role] = subprocess.Popen(
                [sys.executable, "-m", _MODULES[role]],
                start_new_session=True,
                **given,  # type: ignore[call-overload]
            )

    def end(self, role: str) -> int:
        """End a role by SIGTERM, as Kubernetes does; return its exit status."""
        process = self._processes[role]
        if process.poll() is None:
            process.terminate()
        return process.wait(120)

    def has_ended(self, role: str) -> bool:
        """Return whether the role has ended by itself."""
        return self._processes[role].poll() is not None

    def ask(self, path: str) -> httpx.Response | None:
        """Return the answer of the service, or None where nobody listens."""
        try:
            return CLIENT.get(f"http://127.0.0.1:{self._ports['SERVICE']}{path}")
        except httpx.TransportError:
            return None

    def wait_until_ready(self) -> None:
        """Wait until the collector stores events."""
        until(self._is_ready, describe=lambda: self.log("collector"))

    def log(self, role: str) -> str:
        """Return the end of a role's log."""
        return self._log(role).read_text()[-3000:]

    def stop(self) -> None:
        """End all with -9."""
        for process in self._processes.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)

    def _is_ready(self) -> bool:
        try:
            return CLIENT.get(f"{self.url}/readyz").is_success
        except httpx.TransportError:
            return False

    def _log(self, role: str) -> Path:
        return self._folder / f"{role}.log"
