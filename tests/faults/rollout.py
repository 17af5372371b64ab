"""Service of Kubernetes in front of collectors, its clients, and the outcomes of their posts."""

import signal
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import httpx

from tests.collector.running import ROOT
from tests.service.commandline import environ
from tests.suite.http_client import CLIENT

LATE_SECONDS = 1.0  # until each node knows a changed EndpointSlice
_LOOK_SECONDS = 0.1


class Endpoints:
    """File with the ports of ready collectors; changes appear in it a second later.

    Attributes:
        path: of the file.
    """

    def __init__(self, path: Path, ports: Iterable[int]) -> None:
        """List all of them, and check their readiness from now on."""
        self.path, self._ports = path, tuple(ports)
        self._changes: deque[tuple[float, tuple[int, ...]]] = deque()
        self._ready = self._listed = self._ports
        self._write()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def lists(self, port: int) -> bool:
        """Return whether new connections go there."""
        return port in self._listed

    def stop(self) -> None:
        """Stop the checks."""
        self._stopping.set()
        self._thread.join(60)

    def _look(self) -> None:
        while not self._stopping.wait(_LOOK_SECONDS):
            ready = tuple(filter(_is_ready, self._ports))
            if ready != self._ready:
                self._ready = ready
                self._changes.append((time.monotonic() + LATE_SECONDS, ready))
            while self._changes and self._changes[0][0] <= time.monotonic():
                _, self._listed = self._changes.popleft()
                self._write()

    def _write(self) -> None:
        written = self.path.with_suffix(".new")
        written.write_text(" ".join(map(str, self._listed)), encoding="ascii")
        written.replace(self.path)


def _is_ready(port: int) -> bool:
    """Return whether a probe succeeds, as a kubelet sends it."""
    try:
        return CLIENT.get(f"http://127.0.0.1:{port}/readyz").status_code == 200
    except httpx.TransportError:
        return False


class Posts(NamedTuple):
    """Outcomes of all posts.

    Attributes:
        acked: hashes of the events that were answered with 201.
        failed: how often each other outcome came, by kind of client.
        by_kind: how many posts each kind of client made.
    """

    acked: list[str]
    failed: Counter[str]
    by_kind: Counter[str]


class Clients:
    """Process of the clients."""

    def __init__(self, endpoints: Endpoints, folder: Path) -> None:
        """Start to send."""
        folder.mkdir()
        self._posts = folder / "posts"
        argv = [sys.executable, "-m", "tests.faults.service_clients"]
        self._process = subprocess.Popen(
            [*argv, str(endpoints.path), str(folder)], cwd=ROOT, env=environ()
        )

    def posts(self) -> Posts:
        """Return the outcomes of the posts so far."""
        text = self._posts.read_text(encoding="utf-8") if self._posts.exists() else ""
        rows = [line.split("\t") for line in text[: text.rfind("\n") + 1].splitlines()]
        acked = [digest for digest, outcome, _, _ in rows if outcome == "201"]
        failed = Counter(f"{kind}: {outcome}" for _, outcome, kind, _ in rows if outcome != "201")
        return Posts(acked, failed, Counter(kind for _, _, kind, _ in rows))

    def stop(self) -> Posts:
        """End the clients."""
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(60) == 0
        return self.posts()

    def kill(self) -> None:
        """Kill the clients at the end of a test that may have failed."""
        self._process.kill()
        self._process.wait(30)
