"""Benchmark of the collector against its budgets: durable acks a second, and each one's time.

A real collector and its senders in another process on the same cores. Beside each load stands what
bare SQLite stores of the same bodies, measured in the same run.
"""

import os
import subprocess
import sys

import msgspec

from lab.bench.ingest import bare_sqlite, bodies
from lab.bench.ingest.collector_process import ROOT, running_collector
from lab.bench.ingest.senders import Load, Result

BUDGET_EVENTS_PER_SECOND = 8_000.0
BUDGET_P99_MS = 50.0
BUDGET_P99_MS_AT_RATE = 25.0
BUDGET_OF_BARE_SQLITE = 0.5
BUDGET_MEMORY_MIB = 200.0
SIZES = (10_000, 100_000, 1_000_000)
CONNECTIONS = 32
RATE = 1_000.0
_WARM_UP_SECONDS = 3.0
_BARE_SECONDS = 3.0
_LARGE = ("21 kB", "100 kB")  # half of the limit is asked of these, and no number of events
_SWEPT = "4 kB"


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Measured figures of one load; milliseconds are from due to acknowledged.

    Attributes:
        bodies: what was sent.
        cpu_us: CPU time of the collector for an event.
        bare_per_second: events of the same bodies that bare SQLite stores; None at a given rate.
        of_bare: the collector's share of that.
        holds: each budget of the load is kept.
    """

    bodies: str
    connections: int
    rate: float | None
    events: int
    events_per_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float
    cpu_us: float
    memory_mib: float
    bare_per_second: float | None
    of_bare: float | None
    budget: str
    holds: bool


class SpoolSpeed(msgspec.Struct, frozen=True, kw_only=True):
    """Speed with that many events in the spool: over the last tenth of them."""

    events: int
    events_per_second: float
    microseconds_per_event: float


class IngestReport(msgspec.Struct, frozen=True, kw_only=True):
    """Result of `run`; `load_average` is the machine's before it."""

    load_average: float
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
        seconds: of each load.
        connections: kept open, of all loads.
        rate: events per second of the second load.
        sizes: of the spool, rising; () leaves the sweep out.
    """
    before = os.getloadavg()[0]
    loads = [
        measure(name, seconds=seconds, connections=connections, rate=each)
        for name, each in (
            (bodies.MIX, None),
            (bodies.MIX, rate),
            *((n, None) for n in bodies.SIZES),
        )
    ]
    sweep = _sweep(connections, sizes) if sizes else []
    return IngestReport(load_average=before, loads=loads, sweep=sweep)


def measure(name: str, *, seconds: float, connections: int, rate: float | None) -> Figures:
    """Measure one load on a collector of its own, after a short warm-up.

    Args:
        name: of the bodies.
        seconds: how long events are sent.
        connections: kept open.
        rate: events per second; None: as many as are answered.

    Raises:
        RuntimeError: an event was not acknowledged.
    """
    bare = bare_sqlite.events_per_second(name, group=connections, seconds=_BARE_SECONDS)
    with running_collector() as collector:
        load = Load(
            port=collector.port,
            connections=connections,
            rate=rate,
            bodies=name,
            seconds=_WARM_UP_SECONDS,
        )
        send(load)
        cpu = collector.cpu()
        result = send(msgspec.structs.replace(load, seconds=seconds))
        used = cpu.seconds() / result.acked * 1e6
        return _figures(result, load, cpu_us=used, memory_mib=collector.memory_mib(), bare=bare)


def _figures(
    result: Result, load: Load, *, cpu_us: float, memory_mib: float, bare: float
) -> Figures:
    achieved = result.acked / result.seconds
    p50, p95, p99, slowest = result.percentiles_ms
    wanted, most_p99 = _budget(load, bare)
    return Figures(
        bodies=load.bodies,
        connections=load.connections,
        rate=load.rate,
        events=result.acked,
        events_per_second=achieved,
        p50_ms=p50,
        p95_ms=p95,
        p99_ms=p99,
        max_ms=slowest,
        cpu_us=cpu_us,
        memory_mib=memory_mib,
        bare_per_second=bare if load.rate is None else None,
        of_bare=achieved / bare if load.rate is None else None,
        budget=f">= {wanted:,.0f}/s, p99 < {most_p99:g} ms, < {BUDGET_MEMORY_MIB:g} MiB",
        holds=achieved >= wanted and p99 < most_p99 and memory_mib < BUDGET_MEMORY_MIB,
    )


def _budget(load: Load, bare: float) -> tuple[float, float]:
    """Return the events a second and the 99th percentile that are asked of a load."""
    if load.rate is not None:
        # All of it: less a hundredth, for the last events' way.
        return load.rate * 0.99, BUDGET_P99_MS_AT_RATE
    if load.bodies in _LARGE:
        return bare * BUDGET_OF_BARE_SQLITE, BUDGET_P99_MS
    return BUDGET_EVENTS_PER_SECOND, BUDGET_P99_MS


def _sweep(connections: int, sizes: tuple[int, ...]) -> list[SpoolSpeed]:
    with running_collector() as collector:
        result = send(
            Load(
                port=collector.port,
                connections=connections,
                rate=None,
                seconds=3_600.0,
                bodies=_SWEPT,
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


def send(load: Load) -> Result:
    """Send a load from a process of its own.

    Raises:
        RuntimeError: an event was not acknowledged.
    """
    done = subprocess.run(
        [sys.executable, "-m", "lab.bench.ingest.senders"],
        cwd=ROOT,
        input=msgspec.json.encode(load),
        stdout=subprocess.PIPE,
        check=True,
    )
    result = msgspec.json.decode(done.stdout, type=Result)
    if result.rejected or not result.acked:
        message = f"{result.rejected} events were not acknowledged, {result.acked} were"
        raise RuntimeError(message)
    return result
