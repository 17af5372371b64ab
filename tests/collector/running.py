"""Real collector, as `python -m collector` starts it, with its own port and folder."""

import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx

from tests.suite.http_client import CLIENT
from tests.suite.waiting import until

ROOT = Path(__file__).resolve().parents[2]
_PORT = re.compile(r'"port": (\d+), "event": "collector_listening"')
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_OURS = ("LINEWARD_", "PYTHON")


class Collector:
    """Process of a collector, with its address and its folder."""

    def __init__(
        self,
        folder: Path,
        *,
        before: tuple[str, ...] = (),
        program: tuple[str, ...] = ("-m", "collector"),
        port: int = 0,
        log: Path | None = None,
        **settings: object,
    ) -> None:
        """Start it.

        Args:
            folder: becomes the data folder.
            before: words before the command, such as strace's.
            program: what Python runs; a mutant in tests of the tests.
            port: 0 for any.
            log: file for its log; beside the folder by default.
            settings: of `LINEWARD_COLLECTOR_…`, in small letters.
        """
        self.folder = folder
        self.log_path = log or folder.parent / f"{folder.name}.log"
        with self.log_path.open("ab") as output:
            self.process = subprocess.Popen(
                [*before, sys.executable, *program],
                cwd=ROOT,
                env=_environment(folder, port, settings),
                stdout=output,
                stderr=output,
            )
        self.port = port or until(self._port)
        self.url = f"http://127.0.0.1:{self.port}"

    def _port(self) -> int | None:
        assert self.process.poll() is None, self.log()
        found = _PORT.search(self.log())
        return int(found[1]) if found else None

    def log(self) -> str:
        """Return its log so far."""
        return _STYLE.sub("", self.log_path.read_text(errors="replace"))

    def ready(self, *, seconds: float = 30) -> "Collector":
        """Wait until a commit works."""
        until(self._is_ready, seconds=seconds)
        return self

    def _is_ready(self) -> bool:
        assert self.process.poll() is None, self.log()
        try:
            return CLIENT.get(f"{self.url}/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def worker(self) -> int:
        """Process id of the worker that serves now; 0 between two."""
        parent = self.process.pid
        found = [pid for pid in descendants(parent) if runs(pid, b"worker")]
        return found[0] if found else 0

    def post(self, body: bytes, path: str = "/api/v1/lineage", **headers: str) -> httpx.Response:
        """Send one body; header names with _ for -."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return CLIENT.post(f"{self.url}{path}", content=body, headers=named)

    def post_as_own(
        self, body: bytes, path: str = "/api/v1/lineage", **headers: str
    ) -> httpx.Response:
        """Send one body as Lineward's own senders do: with the secret of the data folder."""
        return self.post(body, path, lineward_reader=self.secret(), **headers)

    @property
    def secret_file(self) -> Path:
        """Return the path of the secret of Lineward's own senders."""
        return self.folder / "reader.secret"

    def secret(self) -> str:
        """Return the secret that the collector made for its readers."""
        return self.secret_file.read_text(encoding="ascii")

    def checker(self) -> int:
        """Process id of the process that checks large bodies; 0 where there is none."""
        found = [pid for pid in descendants(self.process.pid) if runs(pid, b"collector.checker")]
        return found[0] if found else 0

    def peak_bytes(self) -> int:
        """Return the most memory that the worker and the checker of large bodies have ever used."""
        return sum(_peak_bytes(pid) for pid in (self.worker(), self.checker()) if pid)

    def raw(self, request: bytes, *, seconds: float = 30) -> bytes:
        """Send bytes as they are; all that comes back until it closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            # It may be rejected, and the connection closed, before all of it is sent.
            with suppress(ConnectionError):
                connection.sendall(request)
            return read_to_end(connection)

    def rows(self, sql: str) -> list[Any]:
        """Return the rows of a query on the spool."""
        with closing(sqlite3.connect(self.folder / "spool.db", timeout=10)) as connection:
            return connection.execute(sql).fetchall()

    def stop(self) -> int:
        """Stop it as an operator does, and return the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def kill(self) -> None:
        """Kill the parent first, so that no new worker starts, and then the workers."""
        workers = descendants(self.process.pid)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(30)
        for pid in workers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def read_to_end(connection: socket.socket) -> bytes:
    """Return everything that a connection sends until it is closed or reset."""
    answer = bytearray()
    while True:
        try:
            part = connection.recv(65_536)
        except ConnectionResetError:
            return bytes(answer)
        if not part:
            return bytes(answer)
        answer += part


def _environment(folder: Path, port: int, settings: dict[str, object]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    own = {f"LINEWARD_COLLECTOR_{name.upper()}": str(value) for name, value in settings.items()}
    return kept | own | {"LINEWARD_DATA_DIR": str(folder), "LINEWARD_COLLECTOR_PORT": str(port)}


def descendants(pid: int) -> list[int]:
    """Return the processes below `pid`, of any depth: strace stands before some collectors."""
    children = [child for task in _tasks(pid) for child in _children(task)]
    return children + [below for child in children for below in descendants(child)]


def _tasks(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except (FileNotFoundError, ProcessLookupError):
        return []


def _children(task: Path) -> list[int]:
    """Return the processes that a thread started."""
    try:
        return [int(word) for word in (task / "children").read_text(encoding="ascii").split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def runs(pid: int, module: bytes) -> bool:
    """Return whether a process runs this module."""
    try:
        return module in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


def _peak_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024
