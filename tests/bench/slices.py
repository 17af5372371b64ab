"""CPU time of processes by slices of the events that they land, apart from what a start costs."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sqlalchemy import Engine

from lab.bench.catalogs import CatalogMeter
from lab.bench.footprint import CpuMeter
from tests.faults.comparing import landed

_MICROS = 1_000_000
_LOOK_SECONDS = 0.25
_SECONDS_WITHOUT_EVENTS = 300.0


class Cost(NamedTuple):
    """CPU time in seconds, or in microseconds an event.

    Attributes:
        driver: with all its threads and processes.
        workers: of Spark, and their executors.
        server: PostgreSQL; zero for SQLite, which is a part of the driver.
    """

    driver: float
    workers: float
    server: float

    @property
    def total(self) -> float:
        """Return the CPU time of all processes together."""
        return sum(self)

    def of_each(self, events: int) -> "Cost":
        """Return what one of so many events cost, in microseconds."""
        return Cost(*(seconds * _MICROS / events for seconds in self))

    def less(self, other: "Cost") -> "Cost":
        """Return the difference."""
        return Cost(*(mine - its for mine, its in zip(self, other, strict=True)))


class Mark(NamedTuple):
    """CPU time spent when so many events had landed."""

    events: int
    spent: Cost


class Measured(NamedTuple):
    """Measured run of one mode.

    Attributes:
        marks: the end of each slice; the first slice begins with the start of the processes.
    """

    name: str
    marks: list[Mark]

    @property
    def slices(self) -> list[tuple[int, Cost]]:
        """Return for each slice behind the first its last event and the cost of one event."""
        pairs = zip(self.marks, self.marks[1:], strict=False)
        return [(b.events, b.spent.less(a.spent).of_each(b.events - a.events)) for a, b in pairs]

    @property
    def event(self) -> Cost:
        """Return what an event cost behind the first slice."""
        first, last = self.marks[0], self.marks[-1]
        return last.spent.less(first.spent).of_each(last.events - first.events)

    @property
    def start_seconds(self) -> float:
        """Return what the first slice cost beyond its events."""
        first = self.marks[0]
        return first.spent.total - self.event.total * first.events / _MICROS

    @property
    def spread(self) -> float:
        """Return the dearest slice behind the first, as a ratio to the cheapest."""
        totals = [cost.total for _, cost in self.slices]
        return max(totals) / min(totals)


class Meter:
    """CPU time of a driver, the workers of its cluster and the server of its catalog."""

    def __init__(self, engine: Engine, driver: int, workers: Sequence[int]) -> None:
        """Begin to count."""
        self._engine = engine
        self._driver = CpuMeter(driver)
        self._workers = CpuMeter(*workers) if workers else None
        self._server = CatalogMeter(engine)

    def mark(self) -> Mark:
        """Return how many events have landed, and what was spent."""
        workers = self._workers.seconds() if self._workers else 0.0
        server = self._server.cpu_seconds() or 0.0
        return Mark(landed(self._engine)[0], Cost(self._driver.seconds(), workers, server))


def mark_slices(
    meter: Meter, ends: Sequence[int], is_running: Callable[[], bool] = lambda: True
) -> list[Mark]:
    """Return a mark for each of these numbers of events, once so many have landed.

    Raises:
        TimeoutError: no event lands for minutes, or the driver has ended.
    """
    marks: list[Mark] = []
    events, deadline = -1, time.monotonic() + _SECONDS_WITHOUT_EVENTS
    while len(marks) < len(ends):
        time.sleep(_LOOK_SECONDS)
        now = meter.mark()
        if now.events > events:
            events, deadline = now.events, time.monotonic() + _SECONDS_WITHOUT_EVENTS
        elif not is_running() or time.monotonic() > deadline:
            raise TimeoutError(f"{now.events} of {ends[-1]} events have landed, and no more come")
        if now.events >= ends[len(marks)]:
            marks.append(now)
    return marks
