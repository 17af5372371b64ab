"""Benchmark of the pipeline against its budgets.

Backlog, cost per event by size, live lag, memory, idle cost.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine, text

from lab.bench.catalogs import CatalogMeter, empty_catalog
from lab.bench.footprint import CpuMeter, memory_bytes
from lineage.process.clock import SECOND_MICROS, system_clock
from slis.made_up_events import fill_spool, make_events
from slis.settings import PipelineSettings, SharedPaths
from slis.spark import garbage_collection
from slis.spark.session import spark_session
from slis.stream.landing import BatchLanding
from slis.stream.log.spool_log import backlog_since
from slis.stream.log.spool_reader import BatchLimits, open_spool_to_read
from slis.stream.merge.merge import MergeResult
from slis.stream.running import StreamThread

SIZES = (10_000, 100_000, 1_000_000)
WARM_UP_EVENTS = 200_000
LIVE_EVENTS_PER_SECOND = 1_000
_START = datetime(2026, 11, 1, tzinfo=UTC)
_APART = timedelta(milliseconds=1)
_GIB = 1 << 30
_LOOK_SECONDS = 0.05
_FINISH_SECONDS = 30.0


class Figure(msgspec.Struct, frozen=True):
    """Measured figure beside its budget."""

    name: str
    value: float
    unit: str
    budget: float | None
    holds: bool | None


class BacklogCost(msgspec.Struct, frozen=True):
    """Cost of one backlog: wall clock and CPU time of all processes of the pipeline.

    `merge_microseconds` are those of the one turn in which only one batch can be. The server's CPU
    time and its write-ahead log are of PostgreSQL. All are per event.
    """

    events: int
    seconds: float
    events_per_second: float
    last_tenth_events_per_second: float
    cpu_microseconds: float
    merge_microseconds: float
    server_cpu_microseconds: float | None
    catalog_bytes: float
    wal_bytes: float | None


class PipelineReport(msgspec.Struct, frozen=True):
    """Figures that `run` measured; all JSON."""

    figures: list[Figure]
    sweep: list[BacklogCost]


def run(
    sizes: Sequence[int] = SIZES,
    *,
    live_seconds: int = 60,
    idle_seconds: int = 20,
    catalog_url: str | None = None,
) -> PipelineReport:
    """Measure, in a folder that is deleted afterwards.

    Args:
        sizes: of the backlogs, each in an empty catalog.
        live_seconds: how long events arrive at 1,000 a second; 0: not measured.
        idle_seconds: how long the idle stream is watched; 0: not measured.
        catalog_url: of a PostgreSQL database, in which schemas are made and deleted; None: SQLite.
    """
    # Evaluations need it: its memory is a part of the pipeline's.
    session = spark_session(driver_memory=PipelineSettings().driver_memory)
    with tempfile.TemporaryDirectory(prefix="lineward-bench-") as folder:
        root = Path(folder)
        # A backlog finds a pipeline that has run for a while.
        measure_backlog(root / "warm", catalog_url, WARM_UP_EVENTS, seed=99)
        sweep = [measure_backlog(root / str(size), catalog_url, size, seed=size) for size in sizes]
        figures = _sweep_figures(sweep)
        if live_seconds:
            with empty_catalog(root / "live", catalog_url) as (place, engine):
                figures += _live(place, engine, live_seconds, idle_seconds)
    figures.append(_at_most("memory of the pipeline", memory_bytes() / _GIB, "GiB", 3.0))
    session.stop()
    return PipelineReport(figures, sweep)


def _at_most(name: str, value: float, unit: str, budget: float) -> Figure:
    return Figure(name, round(value, 3), unit, budget, value <= budget)


def _sweep_figures(sweep: list[BacklogCost]) -> list[Figure]:
    rate = sweep[-1].events_per_second
    cost = [size.cpu_microseconds for size in sweep]
    growth = max(cost[-1] / other for other in cost)
    return [
        Figure("backlog worked off", round(rate), "events/s", 5_000, rate >= 5_000),  # noqa: PLR2004 - the budget
        _at_most("growth of the cost per event over the sweep", growth, "ratio", 1.2),
    ]


def open_landing(
    engine: Engine,
    place: SharedPaths,
    landed: Callable[[MergeResult], None] = lambda _: None,
) -> BatchLanding:
    """Return what lands the spool of a place with the pipeline's own settings."""
    limits = BatchLimits(PipelineSettings().max_rows, PipelineSettings().max_bytes)
    return BatchLanding(engine, place, limits=limits, clock=system_clock, landed=landed)


def measure_backlog(folder: Path, catalog_url: str | None, count: int, *, seed: int) -> BacklogCost:
    """Land `count` synthetic events, of at least one, in an empty catalog."""
    with empty_catalog(folder, catalog_url) as (place, engine):
        fill_spool(place.spool, make_events(count, seed=seed, start=_START, apart=_APART))
        batches: list[tuple[float, MergeResult]] = []

        def landed(result: MergeResult) -> None:
            batches.append((time.perf_counter(), result))

        garbage_collection.freeze_objects()  # as the pipeline does before its first batch
        catalog, cpu, began = CatalogMeter(engine), CpuMeter(), time.perf_counter()
        open_landing(engine, place, landed).work_off()
        cpu_seconds = cpu.seconds()
        return _size(count, began, batches, cpu_seconds, catalog)


def _size(
    count: int,
    began: float,
    batches: list[tuple[float, MergeResult]],
    cpu_seconds: float,
    catalog: CatalogMeter,
) -> BacklogCost:
    seconds = batches[-1][0] - began
    server, wal = catalog.cpu_seconds(), catalog.wal_bytes()
    merged = sum(result.merge_seconds for _, result in batches)
    return BacklogCost(
        events=count,
        seconds=round(seconds, 2),
        events_per_second=round(count / seconds, 1),
        last_tenth_events_per_second=round(_last_tenth(began, batches), 1),
        cpu_microseconds=round(cpu_seconds / count * SECOND_MICROS, 1),
        merge_microseconds=round(merged / count * SECOND_MICROS, 1),
        server_cpu_microseconds=None
        if server is None
        else round(server / count * SECOND_MICROS, 1),
        catalog_bytes=round(catalog.table_bytes() / count, 1),
        wal_bytes=None if wal is None else round(wal / count, 1),
    )


def _last_tenth(began: float, batches: list[tuple[float, MergeResult]]) -> float:
    """Return the events a second of the last tenth of the batches."""
    marks = [(began, 0), *((at, result.events) for at, result in batches)]
    tail = marks[-max(1, len(batches) // 10) - 1 :]
    return sum(events for _, events in tail[1:]) / (tail[-1][0] - tail[0][0])


def _live(place: SharedPaths, engine: Engine, live_seconds: int, idle_seconds: int) -> list[Figure]:
    fill_spool(place.spool, make_events(0, seed=0, start=_START, apart=_APART))
    running = StreamThread(open_landing(engine, place), PipelineSettings().poll_seconds)
    running.begin()
    cpu = CpuMeter()
    rate = str(LIVE_EVENTS_PER_SECOND)
    sender = [sys.executable, "-m", "lab.bench.feed", str(place.spool), rate, str(live_seconds)]
    with subprocess.Popen(sender) as sending:  # noqa: S603 - ourselves
        sending.wait()
        live_cpu = cpu.seconds()
    while backlog_since(place.spool, engine) is not None:
        running.look()
        time.sleep(_LOOK_SECONDS)
    lags = _lags(place, engine)
    cpu = CpuMeter()
    time.sleep(idle_seconds)
    idle = cpu.seconds() / max(idle_seconds, 1)
    running.finish(_FINISH_SECONDS)
    p50, p95, p99 = np.percentile(lags, [50, 95, 99])
    return [
        Figure("live, event to facts, p50", round(float(p50), 3), "s", None, None),
        _at_most("live, event to facts, p95", float(p95), "s", 3.0),
        Figure("live, event to facts, p99", round(float(p99), 3), "s", None, None),
        Figure("live, cores in use", round(live_cpu / live_seconds, 2), "cores", None, None),
        _at_most("idle stream", idle, "cores", 0.2),
    ]


def _lags(place: SharedPaths, engine: Engine) -> NDArray[np.float64]:
    """Return seconds from each event's arrival in the spool to its facts' commit.

    Without the first tenth.
    """
    with closing(open_spool_to_read(place.spool)) as spool:
        received = np.array(
            spool.execute("SELECT seq, received_at FROM event ORDER BY seq").fetchall()
        )
    with engine.connect() as connection:
        landed: NDArray[np.int64] = np.array(
            connection.execute(
                text("SELECT last_seq, landed_at FROM batch ORDER BY last_seq")
            ).all()
        )
    batch = np.searchsorted(landed[:, 0], received[:, 0])
    lags: NDArray[np.float64] = (landed[batch, 1] - received[:, 1]) / SECOND_MICROS
    return lags[len(lags) // 10 :]
