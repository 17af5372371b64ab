"""Measures the pipeline against its budgets.

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

from lineage.catalog.engine import migrate, open_catalog
from lineage.clock import system_clock
from slis import jvm_memory
from slis.backlog import backlog_since
from slis.footprint import CpuMeter, memory_bytes
from slis.session import open_session
from slis.settings import Place, Settings
from slis.spool_events import events, fill_spool
from slis.stream.landing import Landing
from slis.stream.merge import Landed
from slis.stream.running import Running
from slis.stream.source import Bounds, open_spool

SIZES = (10_000, 100_000, 1_000_000)
WARM_UP_EVENTS = 200_000
LIVE_EVENTS_PER_SECOND = 1_000
_START = datetime(2026, 11, 1, tzinfo=UTC)
_APART = timedelta(milliseconds=1)
_MICROS = 1_000_000
_GIB = 1 << 30
_LOOK_SECONDS = 0.05
_FINISH_SECONDS = 30.0


class Figure(msgspec.Struct, frozen=True):
    """One measured figure beside its budget."""

    name: str
    value: float
    unit: str
    budget: float | None
    holds: bool | None


class Size(msgspec.Struct, frozen=True):
    """The work on one backlog: wall clock and CPU time of all processes."""

    events: int
    seconds: float
    events_per_second: float
    cpu_microseconds_per_event: float
    last_tenth_events_per_second: float


class Report(msgspec.Struct, frozen=True):
    """What `run` measured; all JSON."""

    figures: list[Figure]
    sweep: list[Size]


def run(sizes: Sequence[int] = SIZES, *, live_seconds: int = 60, idle_seconds: int = 20) -> Report:
    """Measure, in a folder that is deleted afterwards.

    Args:
        sizes: of the backlogs, each in an empty catalog.
        live_seconds: how long events arrive at 1,000 a second; 0: not measured.
        idle_seconds: how long the idle stream is watched; 0: not measured.
    """
    # Evaluations need it: its memory is a part of the pipeline's.
    session = open_session(driver_memory=Settings().driver_memory)
    with tempfile.TemporaryDirectory(prefix="lineward-bench-") as folder:
        root = Path(folder)
        # A backlog finds a pipeline that has run for a while.
        _work_off(root / "warm", WARM_UP_EVENTS, seed=99)
        sweep = [_work_off(root / str(size), size, seed=size) for size in sizes]
        figures = _sweep_figures(sweep)
        figures += _live(root / "live", live_seconds, idle_seconds)
    figures.append(_at_most("memory of the pipeline", memory_bytes() / _GIB, "GiB", 3.0))
    session.stop()
    return Report(figures, sweep)


def _at_most(name: str, value: float, unit: str, budget: float) -> Figure:
    return Figure(name, round(value, 3), unit, budget, value <= budget)


def _sweep_figures(sweep: list[Size]) -> list[Figure]:
    rate = sweep[-1].events_per_second
    cost = [size.cpu_microseconds_per_event for size in sweep]
    growth = max(cost[-1] / other for other in cost)
    return [
        Figure("backlog worked off", round(rate), "events/s", 5_000, rate >= 5_000),  # noqa: PLR2004 - the budget
        _at_most("growth of the cost per event over the sweep", growth, "ratio", 1.2),
    ]


def _place(folder: Path) -> tuple[Place, Engine]:
    folder.mkdir(parents=True)
    place = Place(data_dir=folder)
    engine = open_catalog(place.catalog)
    migrate(engine)
    return place, engine


def _landing(
    engine: Engine,
    place: Place,
    landed: Callable[[Landed], None] = lambda _: None,
) -> Landing:
    bounds = Bounds(Settings().max_rows, Settings().max_bytes)
    return Landing(engine, place, bounds=bounds, clock=system_clock, landed=landed)


def _work_off(folder: Path, count: int, *, seed: int) -> Size:
    place, engine = _place(folder)
    fill_spool(place.spool, events(count, seed=seed, start=_START, apart=_APART))
    marks: list[tuple[float, int]] = []

    def landed(result: Landed) -> None:
        marks.append((time.perf_counter(), result.events))

    jvm_memory.settle()  # as the pipeline does before its first batch
    cpu, began = CpuMeter(), time.perf_counter()
    _landing(engine, place, landed).work_off()
    seconds, cpu_seconds = marks[-1][0] - began, cpu.seconds()
    engine.dispose()
    tail = marks[-max(1, len(marks) // 10) - 1 :] if len(marks) > 1 else [(began, 0), *marks]
    return Size(
        events=count,
        seconds=round(seconds, 2),
        events_per_second=round(count / seconds, 1),
        cpu_microseconds_per_event=round(cpu_seconds / count * _MICROS, 1),
        last_tenth_events_per_second=round(
            sum(events for _, events in tail[1:]) / (tail[-1][0] - tail[0][0]), 1
        ),
    )


def _live(folder: Path, live_seconds: int, idle_seconds: int) -> list[Figure]:
    if not live_seconds:
        return []
    place, engine = _place(folder)
    fill_spool(place.spool, events(0, seed=0, start=_START, apart=_APART))
    running = Running(_landing(engine, place), Settings().poll_seconds)
    running.begin()
    cpu = CpuMeter()
    rate = str(LIVE_EVENTS_PER_SECOND)
    sender = [sys.executable, "-m", "slis.spool_events", str(place.spool), rate, str(live_seconds)]
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
    engine.dispose()
    p50, p95, p99 = np.percentile(lags, [50, 95, 99])
    return [
        Figure("live, event to facts, p50", round(float(p50), 3), "s", None, None),
        _at_most("live, event to facts, p95", float(p95), "s", 3.0),
        Figure("live, event to facts, p99", round(float(p99), 3), "s", None, None),
        Figure("live, cores in use", round(live_cpu / live_seconds, 2), "cores", None, None),
        _at_most("idle stream", idle, "cores", 0.2),
    ]


def _lags(place: Place, engine: Engine) -> NDArray[np.float64]:
    """Seconds from each event's arrival in the spool to its facts' commit.

    Without the first tenth.
    """
    with closing(open_spool(place.spool)) as spool:
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
    lags: NDArray[np.float64] = (landed[batch, 1] - received[:, 1]) / _MICROS
    return lags[len(lags) // 10 :]
