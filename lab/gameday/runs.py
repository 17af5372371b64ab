"""Runs of every job, by a simulation of discrete events.

A scheduler begins a job at its slot. One that waits begins it once each input is newer than the
job's last run; the other begins it on what is there. A run that failed is tried again, unless what
broke it still lasts; failed runs are repeated as soon as it is fixed.
"""

import heapq
import random
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from lab.gameday.injected import Circumstances, Course, Injected
from lab.gameday.model import DAY, HOUR, MINUTE_MICROS, Estate, SimulatedJob
from lab.gameday.slots import PERIODS, begins_at, next_slot
from lineage.process.clock import SECOND_MICROS

_NATURAL_FAILURES = 0.004
_STALLS = 0.003
_NOTICED: Final = 20 * SECOND_MICROS  # until a scheduler sees that an input is there
_BACKFILLED: Final = 5
_BACKFILL_STEP: Final = 40 * MINUTE_MICROS
_RERUN_AFTER: Final = 3 * HOUR
_REPAIRABLE: Final = frozenset({"killed_job", "spark_upgrade", "flapping_job", "schema_drift"})


class SimulatedRun(msgspec.Struct, frozen=True):
    """Run that happened, reported or not. Instants in µs UTC.

    Attributes:
        job: its number.
        number: of the job's runs.
        nominal_at: of the slot that it is for; of a backfill, one long gone.
        ended_at: also of one that was lost: when it was killed.
        circumstances: what it does and reports.
        drops: it does nothing but drop the outputs; of a renamed one, the other name.
        attempt: of its slot, from 1.
    """

    job: int
    number: int
    nominal_at: int
    started_at: int
    ended_at: int
    circumstances: Circumstances
    drops: str = ""
    attempt: int = 1


class _Due(NamedTuple):
    at: int
    order: int
    what: str
    job: int
    slot: int


def schedule_runs(estate: Estate, injected: tuple[Injected, ...] = ()) -> Iterator[SimulatedRun]:
    """Yield all runs, in the order in which they begin. The same for the same arguments."""
    return _Simulation(estate, Course(injected)).run()


class _Simulation:
    def __init__(self, estate: Estate, course: Course) -> None:
        self._estate = estate
        self._course = course
        self._begins = begins_at(estate)
        self._ends = self._begins + estate.days * DAY
        self._heap: list[_Due] = []
        self._order = 0
        self._counts = [0] * len(estate.jobs)
        self._last_slot = [0] * len(estate.jobs)
        self._last_start = [0] * len(estate.jobs)
        self._busy_until = [0] * len(estate.jobs)
        self._written = [0] * len(estate.datasets)
        self._drifted_at = [0] * len(estate.datasets)
        self._waiting: dict[int, int] = {}
        self._under_way: dict[tuple[int, int], SimulatedRun] = {}

    def run(self) -> Iterator[SimulatedRun]:
        for job in self._estate.jobs:
            self._push(next_slot(self._estate, job, self._begins - 1), "slot", job.number)
        for each in self._course.all:
            self._plan(each)
        # What is decided now may begin a little later, and what is decided next before it.
        begun: list[tuple[int, int, int, SimulatedRun]] = []
        while self._heap and self._heap[0].at < self._ends:
            due = heapq.heappop(self._heap)
            while begun and begun[0][0] <= due.at:
                yield heapq.heappop(begun)[-1]
            for run in getattr(self, f"_{due.what}")(due):
                heapq.heappush(begun, (run.started_at, due.order, run.job, run))
        yield from (each[-1] for each in sorted(begun))

    def _plan(self, each: Injected) -> None:
        """Plan the runs that an injection adds, beside its effect on other runs."""
        for job in each.jobs:
            if each.kind == "backfill":
                for step in range(_BACKFILLED):
                    nominal = each.starts_at - (_BACKFILLED + 2 - step) * DAY
                    self._push(each.starts_at + step * _BACKFILL_STEP, "backfill", job, nominal)
            elif each.kind == "rerun_by_hand":
                self._push(each.starts_at + _RERUN_AFTER, "rerun", job)
            elif each.kind == "retired_job":
                self._push(each.starts_at, "drop", job)
            elif each.kind == "renamed_dataset":
                self._push(each.ends_at, "repair", job)
                self._push(each.ends_at + HOUR, "drop_other", job)
        if each.kind in _REPAIRABLE:
            for job in {*each.failing, *each.jobs}:
                self._push(each.ends_at, "repair", job)

    def _push(self, at: int, what: str, job: int, slot: int | None = None) -> None:
        self._order += 1
        heapq.heappush(self._heap, _Due(at, self._order, what, job, at if slot is None else slot))

    def _slot(self, due: _Due) -> Iterator[SimulatedRun]:
        job = self._estate.jobs[due.job]
        if self._course.is_retired(job, due.at):
            return
        self._push(next_slot(self._estate, job, due.at), "slot", job.number)
        yield from self._held(due)

    def _free_at(self, job: SimulatedJob) -> int:
        """Return when a nightly job may run: after its backfill. Other jobs do not wait."""
        return self._busy_until[job.number] if job.cadence in {"daily", "weekday"} else 0

    def _held(self, due: _Due) -> Iterator[SimulatedRun]:
        """Begin it, unless something still holds it back."""
        job = self._estate.jobs[due.job]
        held = max(self._course.postponed_to(job, due.at), self._free_at(job))
        if held > due.at:
            self._push(held, "held", job.number, due.slot)
        else:
            yield from self._try(job, due.slot, due.at)

    def _repair(self, due: _Due) -> Iterator[SimulatedRun]:
        """Repeat the run after the fix, if a day was missed."""
        job = self._estate.jobs[due.job]
        if self._owes(job):
            yield from self._try(job, due.at, due.at)

    def _owes(self, job: SimulatedJob) -> bool:
        written = min((self._written[each] for each in job.outputs), default=0)
        return job.cadence != "adhoc" and written < self._last_start[job.number]

    def _backfill(self, due: _Due) -> Iterator[SimulatedRun]:
        yield from self._begin(self._estate.jobs[due.job], due.slot, due.at)

    def _rerun(self, due: _Due) -> Iterator[SimulatedRun]:
        """Run the newest slot again as a person does who clears it; later while it still runs."""
        job = self._estate.jobs[due.job]
        is_under_way = job.number in self._waiting or self._busy_until[job.number] > due.at
        if is_under_way or not self._last_slot[job.number]:
            self._push(due.at + HOUR, "rerun", job.number)
        else:
            yield from self._begin(job, self._last_slot[job.number], due.at)

    def _drop(self, due: _Due) -> Iterator[SimulatedRun]:
        yield self._dropped(due, "own")

    def _drop_other(self, due: _Due) -> Iterator[SimulatedRun]:
        yield self._dropped(due, "other")

    def _dropped(self, due: _Due, which: str) -> SimulatedRun:
        job = self._estate.jobs[due.job]
        self._counts[job.number] += 1
        circumstances = Circumstances("complete", True, ())
        number = self._counts[job.number]
        return SimulatedRun(
            job.number, number, due.at, due.at, due.at + SECOND_MICROS, circumstances, which
        )

    def _try(self, job: SimulatedJob, slot: int, at: int) -> Iterator[SimulatedRun]:
        if self._busy_until[job.number] > at:
            return
        if job.waits and not self._is_ready(job):
            self._waiting[job.number] = slot
            return
        self._waiting.pop(job.number, None)
        yield from self._begin(job, slot, at)

    def _is_ready(self, job: SimulatedJob) -> bool:
        last = self._last_start[job.number]
        return all(self._written[each] > last for each in job.inputs if self._is_written(each))

    def _is_written(self, dataset: int) -> bool:
        """Return whether runs write the dataset at their ends: no stream and no ad-hoc dataset."""
        return self._estate.datasets[dataset].cadence not in {"streaming", "adhoc"}

    def _begin(
        self, job: SimulatedJob, slot: int, at: int, attempt: int = 1
    ) -> Iterator[SimulatedRun]:
        self._counts[job.number] += 1
        number = self._counts[job.number]
        circumstances = self._course.circumstances(job, at, number, self._drifted_at)
        chance = random.Random(f"{self._estate.seed} {job.number} {slot} {at}")  # noqa: S311
        if circumstances.fate == "complete" and chance.random() < _NATURAL_FAILURES:
            circumstances = msgspec.structs.replace(circumstances, fate="retry")
        ended_at = at + self._lasts(job, chance)
        # A reader waits for what is newer than its newest day's run, not than a backfill's.
        if slot >= self._last_slot[job.number]:
            self._last_slot[job.number], self._last_start[job.number] = slot, at
        self._busy_until[job.number] = ended_at
        run = SimulatedRun(job.number, number, slot, at, ended_at, circumstances, attempt=attempt)
        self._under_way[job.number, number] = run
        self._push(ended_at, "end", job.number, number)
        yield run

    def _lasts(self, job: SimulatedJob, chance: random.Random) -> int:
        seconds = job.usual_seconds * chance.lognormvariate(0, job.spread)
        if chance.random() < _STALLS:
            seconds *= 1 + chance.paretovariate(3)
        period = PERIODS.get(job.cadence, 86_400)
        return round(min(seconds, 0.45 * period) * SECOND_MICROS)

    def _end(self, due: _Due) -> Iterator[SimulatedRun]:
        job, run = self._estate.jobs[due.job], self._under_way.pop((due.job, due.slot))
        if run.circumstances.fate == "retry":
            yield from self._begin(job, run.nominal_at, due.at + 3 * MINUTE_MICROS, run.attempt + 1)
        if run.circumstances.fate != "complete" or run.circumstances.is_renamed:
            return
        for dataset in job.outputs:
            self._written[dataset] = due.at
            if run.circumstances.schema and not self._drifted_at[dataset]:
                self._drifted_at[dataset] = due.at
        for reader in self._woken(job):
            yield from self._try(reader, self._waiting[reader.number], due.at + _NOTICED)

    def _woken(self, job: SimulatedJob) -> list[SimulatedJob]:
        found = {
            reader.number: reader
            for dataset in job.outputs
            for reader in self._estate.readers_of.get(dataset, ())
            if reader.number in self._waiting
        }
        return list(found.values())
