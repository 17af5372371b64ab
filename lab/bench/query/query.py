"""Benchmark of lineage queries against budgets, alone and while events change the graph.

Asked over HTTP, of a service in a process of its own; the pipeline and what sends it 1,000 events a
second are on the same cores. Beside them stands what a recursive query of the catalog takes.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import msgspec
import numpy as np

from lab.bench import estate_rows
from lab.bench.query.questions import BenchEstate, BenchQuery, estates, keys_of, roots
from lab.bench.query.recursive import recursive
from lab.bench.query.roles import Markers, Roles
from lineage.catalog.engine import migrate, open_catalog
from lineage.catalog.reader import open_reader
from lineage.graph.cache.reading import read_snapshot
from lineage.graph.graph import Graph
from service.runtime.roles import with_free_ports
from service.runtime.settings import Settings

BUDGET_AGE_SECONDS: Final = 5.0
_Answer = TypeVar("_Answer")
_BAD_SHARE = 0.0002  # faults that have nothing to do with one another: a day has a few
_WARM_SECONDS = 20.0
_PAUSE_SECONDS = 0.05  # between two questions: people and dashboards ask, not a queue


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of one kind of query: milliseconds from the request to the last byte.

    `first_ms` is the very first's, answered from the catalog: the graph is not in memory yet.
    `while_events_*` are of the time in which 1,000 events a second came; `recursive_sql_ms` is the
    median of one recursive query for the same, in this process, its rows read and nothing made of
    them.
    """

    question: str
    datasets: int
    edges: int
    kilobytes: float
    first_ms: float
    p50_ms: float
    p95_ms: float
    while_events_p50_ms: float
    while_events_p95_ms: float
    budget_ms: float | None
    holds: bool | None
    recursive_sql_ms: float | None = None


class GraphFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Graph in memory, while events come: its reading time, and the service's times."""

    datasets: int
    edges: int
    read_seconds: float
    changed_seconds: float  # to read what changed, an edge
    unchanged_seconds: float  # to see that nothing did
    closure_p50_ms: float  # all the way down, and nothing but keys
    closure_p95_ms: float
    closure_datasets: float  # on average
    service_mib: float


class QueryReport(msgspec.Struct, frozen=True, kw_only=True):
    """Figures that `run` measured.

    `oldest_answer_seconds`: for how long a new edge was in no answer, of all that were written.
    """

    timings: list[Timing]
    graphs: list[GraphFigures]
    oldest_answer_seconds: float
    budget_oldest_answer_seconds: float = BUDGET_AGE_SECONDS


def run(*, requests: int = 100, scale: float = 1.0) -> QueryReport:
    """Measure on three estates, each in a folder that is deleted afterwards.

    Args:
        requests: of each kind, alone and again while events come.
        scale: of the estates: 1 is that of the budgets.
    """
    timings: list[Timing] = []
    graphs: list[GraphFigures] = []
    ages: list[float] = []
    for estate in estates(scale):
        with tempfile.TemporaryDirectory(prefix="lineward-bench-") as folder:
            settings = with_free_ports(_settings(Path(folder)))
            _fill(settings, estate)
            found, held, seen = _measured(settings, estate, requests)
            timings += found
            ages += seen
            graphs.append(held)
    return QueryReport(timings=timings, graphs=graphs, oldest_answer_seconds=round(max(ages), 2))


def _settings(folder: Path) -> Settings:
    return Settings(data_dir=folder, collector_port=0, service_port=0, metrics_port=0)


def _fill(settings: Settings, estate: BenchEstate) -> None:
    engine = open_catalog(settings.catalog)
    migrate(engine)
    now = datetime.now(UTC)
    estate_rows.fill_with(
        engine, datasets=estate.datasets, pairs=estate.pairs, now=now, bad_share=_BAD_SHARE
    )
    estate_rows.judge(engine, datasets=estate.datasets, now=now)
    engine.dispose()


def _measured(
    settings: Settings, estate: BenchEstate, requests: int
) -> tuple[list[Timing], GraphFigures, list[float]]:
    """Measure timings, the graph in memory, and how long each new edge was in no result."""
    asked = estate.asked(estate.datasets)
    with closing(Roles(settings)) as roles, closing(Markers(settings)) as markers:
        roles.start_service()
        first = [_times(roles, one.paths[:1], 1) for one in asked]
        _warm(roles, asked[0].paths[0])
        alone = [_times(roles, one.paths, requests) for one in asked]
        roles.start_events()
        _warm(roles, asked[0].paths[0])
        if estate.is_marked:
            markers.start()
        busy = [_times(roles, one.paths, requests, markers.look) for one in asked]
        ages = markers.end(lambda: roles.ask(asked[0].paths[0])) if estate.is_marked else []
        held = _held(settings, estate, roles.service_mib())
    found = zip(asked, zip(first, alone, busy, strict=True), strict=True)
    timings = [_timing(settings, estate, one, times) for one, times in found]
    return timings, held, ages


class Times(msgspec.Struct, frozen=True):
    """Milliseconds of each request, and bytes of each answer."""

    milliseconds: list[float]
    sizes: list[int]


def _warm(roles: Roles, path: str) -> None:
    """Query for as long as the service needs to read its graph, and a young JVM its code.

    Queries keep the graph in memory.
    """
    until = time.monotonic() + _WARM_SECONDS
    while time.monotonic() < until:
        roles.ask(path)
        time.sleep(1.0)


def _times(
    roles: Roles, paths: list[str], requests: int, look: Callable[[bytes], None] | None = None
) -> Times:
    milliseconds, sizes = [], []
    for number in range(requests):
        began = time.perf_counter()
        body = roles.ask(paths[number % len(paths)])
        milliseconds.append((time.perf_counter() - began) * 1_000)
        sizes.append(len(body))
        if look is not None:
            look(body)
        time.sleep(_PAUSE_SECONDS)
    return Times(milliseconds, sizes)


def _timing(
    settings: Settings, estate: BenchEstate, asked: BenchQuery, times: tuple[Times, Times, Times]
) -> Timing:
    first, alone, busy = times
    p50, p95 = _quantiles(alone.milliseconds)
    busy_p50, busy_p95 = _quantiles(busy.milliseconds)
    return Timing(
        question=asked.name,
        datasets=estate.datasets,
        edges=len(estate.pairs),
        kilobytes=round(statistics.median(busy.sizes) / 1_000, 1),
        first_ms=round(first.milliseconds[0], 1),
        p50_ms=p50,
        p95_ms=p95,
        while_events_p50_ms=busy_p50,
        while_events_p95_ms=busy_p95,
        budget_ms=asked.budget_ms,
        holds=None if asked.budget_ms is None else busy_p95 < asked.budget_ms,
        recursive_sql_ms=recursive(settings.catalog, asked.sql, keys_of(asked.roots)),
    )


def _quantiles(values: Iterable[float]) -> tuple[float, float]:
    p50, p95 = np.quantile(list(values), [0.5, 0.95])
    return round(float(p50), 1), round(float(p95), 1)


def _held(settings: Settings, estate: BenchEstate, service_mib: float) -> GraphFigures:
    with open_reader(settings.catalog) as reader:
        seconds, snapshot = _timed(lambda: read_snapshot(reader))
        unchanged, _ = _timed(lambda: read_snapshot(reader, snapshot))
        other = msgspec.structs.replace(snapshot, mark={**snapshot.mark, min(snapshot.mark): ""})
        changed, _ = _timed(lambda: read_snapshot(reader, other))
    ups, downs = (keys_of(ends) for ends in zip(*estate.pairs, strict=True))
    graph = Graph(np.array(ups), np.array(downs))
    most, some = estate.datasets, np.array(keys_of(roots(estate.datasets)))
    found = [
        _timed(partial(graph.descendants, some[at : at + 1], max_nodes=most))
        for at in range(len(some))
    ]
    p50, p95 = _quantiles(1_000 * took for took, _ in found)
    return GraphFigures(
        datasets=estate.datasets,
        edges=len(estate.pairs),
        read_seconds=round(seconds, 2),
        changed_seconds=round(changed, 3),
        unchanged_seconds=round(unchanged, 3),
        closure_p50_ms=p50,
        closure_p95_ms=p95,
        closure_datasets=round(statistics.mean(len(below) for _, (below, *_) in found), 1),
        service_mib=service_mib,
    )


def _timed(action: Callable[[], _Answer]) -> tuple[float, _Answer]:
    began = time.perf_counter()
    answer = action()
    return time.perf_counter() - began, answer
