"""History of an estate as a collector would receive it, slab by slab."""

import heapq
from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec

from lab.gameday.events import Listener
from lab.gameday.injected import Injected
from lab.gameday.model import DAY, Estate
from lab.gameday.posting import Posted
from lab.gameday.runs import SimulatedRun, schedule_runs
from lab.gameday.slots import begins_at


class Slab(msgspec.Struct, frozen=True):
    """Events that arrive from `starts_at` until before `ends_at`, µs UTC, in order of arrival.

    Attributes:
        events: that arrive while somebody listens.
        lost: how many arrive while nobody does.
        unreported: runs that ended and of which no event comes, though they left an event log.
        is_deaf: the collector is down from its beginning to its end.
    """

    starts_at: int
    ends_at: int
    events: list[Posted]
    lost: int = 0
    unreported: tuple[SimulatedRun, ...] = ()
    is_deaf: bool = False


def slabs(estate: Estate, injected: Iterable[Injected] = ()) -> Iterator[Slab]:
    """Yield a slab a day, cut where the collector goes down and comes back."""
    given = tuple(injected)
    arriving = _Arriving(estate, given)
    edges = _edges(estate, given)
    for starts_at, ends_at in pairwise(edges):
        yield arriving.until(starts_at, ends_at)


def _edges(estate: Estate, injected: tuple[Injected, ...]) -> list[int]:
    begins = begins_at(estate)
    ends = begins + estate.days * DAY
    found = {begins + day * DAY for day in range(estate.days + 1)}
    for each in injected:
        if each.kind == "collector_outage":
            found |= {min(each.starts_at, ends), min(each.ends_at, ends)}
    return sorted(found)


class _Arriving:
    """Buffer of what was posted and has not arrived: a day's at most."""

    def __init__(self, estate: Estate, injected: tuple[Injected, ...]) -> None:
        self._estate = estate
        self._runs = schedule_runs(estate, injected)
        self._next = next(self._runs, None)
        self._listener = Listener(estate)
        self._outages = [each for each in injected if each.kind == "collector_outage"]
        self._waiting: list[Posted] = []
        self._unreported: list[SimulatedRun] = []

    def until(self, starts_at: int, ends_at: int) -> Slab:
        while self._next is not None and self._next.started_at < ends_at:
            self._take(self._next)
            self._next = next(self._runs, None)
        arrived = []
        while self._waiting and self._waiting[0].received_at < ends_at:
            arrived.append(heapq.heappop(self._waiting))
        is_deaf = any(each.is_on(starts_at) for each in self._outages)
        return Slab(
            starts_at,
            ends_at,
            [] if is_deaf else arrived,
            len(arrived) if is_deaf else 0,
            self._ended(ends_at),
            is_deaf,
        )

    def _take(self, run: SimulatedRun) -> None:
        for event in self._listener.events(run):
            heapq.heappush(self._waiting, event)
        if not run.circumstances.is_reported and self._estate.jobs[run.job].reporting != "nothing":
            self._unreported.append(run)

    def _ended(self, before: int) -> tuple[SimulatedRun, ...]:
        ended = tuple(run for run in self._unreported if run.ended_at < before)
        self._unreported = [run for run in self._unreported if run.ended_at >= before]
        return ended
