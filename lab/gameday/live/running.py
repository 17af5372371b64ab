"""Running chains on the real clock, polled for the events to post by now.

A source begins at its slot, each other job as soon as its inputs are newer than its last run.
"""

import heapq
import random
from collections.abc import Iterable
from itertools import count
from typing import Final, NamedTuple

import msgspec

from lab.gameday.events import Listener
from lab.gameday.injected import Course, Injected
from lab.gameday.live.estate import PACE, WritePace
from lab.gameday.model import Estate, SimulatedJob
from lab.gameday.runs import SimulatedRun
from lineage.process.clock import SECOND_MICROS

_WRITE_BEFORE_END: Final = 200_000  # a write is reported as that much older than its run's end
_SHORTEST: Final = 3.2
_DROPS_SECONDS: Final = 4


class ReportedWrite(NamedTuple):
    """Reported write: when its run began, and the reported time of the write."""

    begun_at: int
    written_at: int


class RunningChains:
    """Chains from a timestamp on, in µs UTC. `injected` may be changed between two polls.

    Attributes:
        pace: of the sources.
        writes: of each dataset, in their order.
        failures: of each dataset, when runs that were to write it ended in a FAIL; in their order.
    """

    def __init__(self, estate: Estate, begins_at: int, pace: WritePace = PACE) -> None:
        self.pace = pace
        self._estate = estate
        self._listener = Listener(estate)
        self._chance = random.Random(f"{estate.seed} runs")  # noqa: S311 - made up, no secret
        self._course = Course(())
        self._order = count()
        self._due: list[tuple[int, int, SimulatedJob, SimulatedRun | None]] = []
        self._posts: list[tuple[int, int, bytes]] = []
        self._busy: set[int] = set()
        self._runs = [0] * len(estate.jobs)
        self._begun = [0] * len(estate.jobs)
        self._newest = [0] * len(estate.datasets)
        self._drifted_at = [0] * len(estate.datasets)
        self.writes: list[list[ReportedWrite]] = [[] for _ in estate.datasets]
        self.failures: list[list[int]] = [[] for _ in estate.datasets]
        for job in estate.jobs:
            if not job.inputs:
                self._push(begins_at + job.at_seconds * SECOND_MICROS, job)

    def inject(self, injected: Iterable[Injected]) -> None:
        """Take these faults, past and future, for all that follows."""
        self._course = Course(injected)

    def until(self, now: int) -> list[bytes]:
        """Return the events that have arrived by now, and were not returned yet."""
        while self._due and self._due[0][0] <= now:
            at, _, job, run = heapq.heappop(self._due)
            if run is None:
                self._slot(job, at)
            else:
                self._end(job, run)
        bodies = []
        while self._posts and self._posts[0][0] <= now:
            bodies.append(heapq.heappop(self._posts)[2])
        return bodies

    def drop(self, jobs: Iterable[SimulatedJob], at: int) -> None:
        """Let each job drop its dataset, as its last run."""
        for job in jobs:
            self._run(job, at, at + _DROPS_SECONDS * SECOND_MICROS, drops="own")

    def stop(self, at: int) -> None:
        """Begin no run any more, and drop all datasets; runs under way report nothing more."""
        self._due.clear()
        self._posts.clear()
        self.drop(self._estate.jobs, at)

    def _slot(self, job: SimulatedJob, at: int) -> None:
        self._push(at + self.pace.period_seconds * SECOND_MICROS, job)
        if self._course.postponed_to(job, at) <= at:
            self._begin(job, at)

    def _begin(self, job: SimulatedJob, at: int) -> None:
        if job.number in self._busy or self._course.is_retired(job, at):
            return
        lasts = max(_SHORTEST, job.usual_seconds * self._chance.lognormvariate(0, job.spread))
        run = self._run(job, at, at + round(lasts * SECOND_MICROS))
        self._busy.add(job.number)
        self._begun[job.number] = at
        self._push(run.ended_at, job, run)

    def _run(self, job: SimulatedJob, at: int, ends_at: int, *, drops: str = "") -> SimulatedRun:
        number = self._runs[job.number]
        self._runs[job.number] += 1
        circumstances = self._course.circumstances(job, at, number, self._drifted_at)
        if drops:
            circumstances = msgspec.structs.replace(
                circumstances, is_reported=True, fate="complete"
            )
        run = SimulatedRun(job.number, number, at, at, ends_at, circumstances, drops)
        for posted in self._listener.events(run):
            heapq.heappush(self._posts, (posted.received_at, next(self._order), posted.body))
        return run

    def _end(self, job: SimulatedJob, run: SimulatedRun) -> None:
        self._busy.discard(job.number)
        if run.circumstances.fate == "fail" and run.circumstances.is_reported:
            for each in job.outputs:
                self.failures[each].append(run.ended_at)
        if run.circumstances.fate == "complete":
            for each in job.outputs:
                self._newest[each] = run.ended_at
                if run.circumstances.schema and not self._drifted_at[each]:
                    self._drifted_at[each] = run.ended_at
                if run.circumstances.is_reported:
                    written = ReportedWrite(run.started_at, run.ended_at - _WRITE_BEFORE_END)
                    self.writes[each].append(written)
        readers = {each.number for out in job.outputs for each in self._readers(out)}
        for number in sorted({job.number, *readers}):
            reader = self._estate.jobs[number]
            if reader.inputs and self._is_new_to(reader):
                self._begin(reader, run.ended_at)

    def _readers(self, dataset: int) -> tuple[SimulatedJob, ...]:
        return self._estate.readers_of.get(dataset, ())

    def _is_new_to(self, job: SimulatedJob) -> bool:
        return all(self._newest[each] > self._begun[job.number] for each in job.inputs)

    def _push(self, at: int, job: SimulatedJob, run: SimulatedRun | None = None) -> None:
        heapq.heappush(self._due, (at, next(self._order), job, run))
