"""Measures the collector against its budgets: durable acks a second, and how long each takes.

A real collector, and its senders in another process on the same cores, in a folder that is
deleted afterwards.
"""

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

from collector.bench_load import Load, Result

BUDGET_EVENTS_PER_SECOND = 8_000.0
BUDGET_P99_MS = 50.0
BUDGET_P99_MS_AT_RATE = 25.0
BUDGET_MEMORY_MIB = 200.0
SIZES = (10_000, 100_000, 1_000_000)
CONNECTIONS = 32
RATE = 1_000.0
_START_SECONDS = 30.0
_WARM_UP_SECONDS = 3.0
_ROOT = Path(__file__).resolve().parents[2]


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Measured figures of one load; milliseconds are from due to acknowledged."""

    connections: int
    rate: float | None
    events: int
    seconds: float
    events_per_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float
    memory_mib: float
    budget_events_per_second: float
    budget_p99_ms: float
    budget_memory_mib: float = BUDGET_MEMORY_MIB
    holds: bool


class SpoolSpeed(msgspec.Struct, frozen=True, kw_only=True):
    """Speed with that many events in the spool: over the last tenth of them."""

    events: int
    events_per_second: float
    microseconds_per_event: float


class IngestReport(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `run`."""

    loads: list[Figures]
    sweep: list[SpoolSpeed]


def run(
    *,
    seconds: float = 20.0,
    connections: int = CONNECTIONS,
    rate: float = RATE,
    sizes: tuple[int, ...] = SIZES,
) -> IngestReport:
    """Measure as fast as it goes, at a steady rate, and as the spool grows.

    Args:
        seconds: of each of the two loads.
        connections: kept open, of all loads.
        rate: events per second of the second load.
        sizes: of the spool, rising; () leaves the sweep out.
    """
    loads = [
        measure(seconds=seconds, connections=connections, rate=None),
        measure(seconds=seconds, connections=connections, rate=rate),
    ]
    return IngestReport(loads=loads, sweep=_sweep(connections, sizes) if sizes else [])


def measure(*, seconds: float, connections: int, rate: float | None) -> Figures:
    """Measure one load on a collector of its own, after a short warm-up.

    Args:
        seconds: how long events are sent.
        connections: kept open.
        rate: events per second; None: as many as are answered.

    Raises:
        RuntimeError: an event was not acknowledged.
    """
    with _collector() as collector:
        load = Load(
            port=collector.port, connections=connections, rate=rate, seconds=_WARM_UP_SECONDS
        )
        _send(load)
        result = _send(msgspec.structs.replace(load, seconds=seconds))
        memory = _memory_mib(collector.process.pid)
    return _figures(result, load, memory)


def _figures(result: Result, load: Load, memory_mib: float) -> Figures:
    rate = load.rate
    achieved = result.acked / result.seconds
    # At a given rate, all of it: less a hundredth, for the last events' way.
    wanted = BUDGET_EVENTS_PER_SECOND if rate is None else rate * 0.99
    p99_budget = BUDGET_P99_MS if rate is None else BUDGET_P99_MS_AT_RATE
    p50, p95, p99, slowest = result.percentiles_ms
    return Figures(
        connections=load.connections,
        rate=rate,
        events=result.acked,
        seconds=result.seconds,
        events_per_second=achieved,
        p50_ms=p50,
        p95_ms=p95,
        p99_ms=p99,
        max_ms=slowest,
        memory_mib=memory_mib,
        budget_events_per_second=wanted,
        budget_p99_ms=p99_budget,
        holds=achieved >= wanted and p99 < p99_budget and memory_mib < BUDGET_MEMORY_MIB,
    )


def _sweep(connections: int, sizes: tuple[int, ...]) -> list[SpoolSpeed]:
    with _collector() as collector:
        result = _send(
            Load(
                port=collector.port,
                connections=connections,
                rate=None,
                seconds=3_600.0,
                events=sizes[-1],
                marks=list(sizes),
            )
        )
    return [
        _size(size, ended - began)
        for size, (began, ended) in zip(sizes, result.marked_seconds, strict=True)
    ]


def _size(events: int, tenth_seconds: float) -> SpoolSpeed:
    rate = (events - events * 9 // 10) / tenth_seconds
    return SpoolSpeed(events=events, events_per_second=rate, microseconds_per_event=1e6 / rate)


class _Collector(msgspec.Struct, frozen=True):
    process: subprocess.Popen[bytes]
    port: int


@contextmanager
def _collector() -> Iterator[_Collector]:
    with tempfile.TemporaryDirectory(prefix="lineward-bench-") as folder:
        port = _free_port()
        process = subprocess.Popen(
            [sys.executable, "-m", "collector"],
            cwd=_ROOT,
            env=_environment(Path(folder), port),
            stdout=subprocess.DEVNULL,
        )
        try:
            _wait_until_ready(process, port)
            yield _Collector(process, port)
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


def _send(load: Load) -> Result:
    done = subprocess.run(
        [sys.executable, "-m", "collector.bench_load"],
        cwd=_ROOT,
        input=msgspec.json.encode(load),
        stdout=subprocess.PIPE,
        check=True,
    )
    result = msgspec.json.decode(done.stdout, type=Result)
    if result.rejected or not result.acked:
        message = f"{result.rejected} events were not acknowledged, {result.acked} were"
        raise RuntimeError(message)
    return result


def _memory_mib(parent: int) -> float:
    """Return the memory of the process and its children; shared pages are counted once."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split()
    kibibytes = 0
    for pid in [str(parent), *children]:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
        kibibytes += sum(
            int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")
        )
    return kibibytes / 1024
