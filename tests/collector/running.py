"""A real collector, as `python -m collector` starts it: a free port, a folder of its own."""

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

from tests.service.waiting import until
from tests.suite.http_client import CLIENT

ROOT = Path(__file__).resolve().parents[2]
_PORT = re.compile(r'"port": (\d+), "event": "collector_listening"')
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_OURS = ("LINEWARD_", "PYTHON")


class Collector:
    """The process, its address and its folder."""

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
            program: what Python runs; a test of the tests puts a mutant here.
            port: 0 for any.
            log: file of what it says; beside the folder unless given.
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
        """All that it has said so far."""
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
        found = [pid for pid in descendants(parent) if _is_worker(pid)]
        return found[0] if found else 0

    def post(self, body: bytes, path: str = "/api/v1/lineage", **headers: str) -> httpx.Response:
        """Send one body; header names with _ for -."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return CLIENT.post(f"{self.url}{path}", content=body, headers=named)

    def post_as_reader(
        self, body: bytes, path: str = "/api/v1/lineage", **headers: str
    ) -> httpx.Response:
        """Send one body as Lineward's own readers do: with the secret of the data folder."""
        return self.post(body, path, lineward_reader=self.secret(), **headers)

    @property
    def secret_file(self) -> Path:
        """Where the secret of Lineward's own readers is."""
        return self.folder / "reader.secret"

    def secret(self) -> str:
        """The secret that the collector made for its readers."""
        return self.secret_file.read_text(encoding="ascii")

    def peak_bytes(self) -> int:
        """The most memory that the worker ever had."""
        status = Path(f"/proc/{self.worker()}/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024

    def raw(self, request: bytes, *, seconds: float = 30) -> bytes:
        """Send bytes as they are; all that comes back until it closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            # It may be refused, and the connection closed, before all of it is sent.
            with suppress(ConnectionError):
                connection.sendall(request)
            return read_to_end(connection)

    def rows(self, sql: str) -> list[Any]:
        """Return the rows of a query on the spool."""
        with closing(sqlite3.connect(self.folder / "spool.db", timeout=10)) as connection:
            return connection.execute(sql).fetchall()

    def stop(self) -> int:
        """As an operator would; the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def kill(self) -> None:
        """The end of a test that may have failed: parent first, so that no worker comes after."""
        workers = descendants(self.process.pid)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(30)
        for pid in workers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def read_to_end(connection: socket.socket) -> bytes:
    """What a connection gives until it is closed or reset."""
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
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return []
    children = [int(word) for word in text.split()]
    return children + [below for child in children for below in descendants(child)]


def _is_worker(pid: int) -> bool:
    try:
        return b"worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
