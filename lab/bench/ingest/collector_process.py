"""Real collector under measurement, in a folder that is deleted afterwards."""

import http.client
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from lab.bench.footprint import CpuMeter, memory_bytes

_START_SECONDS = 30.0
ROOT = Path(__file__).resolve().parents[3]


class CollectorProcess(msgspec.Struct, frozen=True):
    """Running collector."""

    process: subprocess.Popen[bytes]
    port: int

    def cpu(self) -> CpuMeter:
        """Return a meter of the CPU time of its processes, from now on."""
        return CpuMeter(self.process.pid)

    def memory_mib(self) -> float:
        """Return the memory of its processes; shared pages are counted once."""
        return memory_bytes(self.process.pid) / (1 << 20)


@contextmanager
def running_collector() -> Iterator[CollectorProcess]:
    """Start a collector, and stop it at the end.

    Raises:
        RuntimeError: it did not start.
    """
    with tempfile.TemporaryDirectory(prefix="lineward-bench-") as folder:
        port = _free_port()
        process = subprocess.Popen(
            [sys.executable, "-m", "collector"],
            cwd=ROOT,
            env=_environment(Path(folder), port),
            stdout=subprocess.DEVNULL,
        )
        try:
            _wait_until_ready(process, port)
            yield CollectorProcess(process, port)
        finally:
            process.terminate()
            process.wait(60)


def _environment(folder: Path, port: int) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LINEWARD_")}
    return kept | {"LINEWARD_DATA_DIR": str(folder), "LINEWARD_COLLECTOR_PORT": str(port)}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def _wait_until_ready(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/readyz")
            if connection.getresponse().status == http.client.OK:
                return
        time.sleep(0.02)
    raise RuntimeError("the collector to be measured did not start")
