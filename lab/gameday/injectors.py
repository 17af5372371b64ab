"""Effect of each kind of fault on a job, and the jobs that each kind suits."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from typing import Final, Protocol

from lab.gameday.injected import Injected
from lab.gameday.model import DAY, HOUR, Estate, SimulatedJob
from lab.gameday.slots import begins_at, next_slot
from lab.gameday.truth_shapes import InjectedKind
from lineage.process.clock import EPOCH

_AHEAD, _BEHIND = 2 * 3_600, -3 * 3_600
# A limit takes 8 gaps; a collector's outage makes one that does not count.
_WRITES_THAT_TEACH: Final = 10


class PlannedFaults(Protocol):
    """Estate, and its faults so far."""

    estate: Estate
    chance: random.Random
    found: tuple[Injected, ...]


def inject(
    planning: PlannedFaults, kind: InjectedKind, job: SimulatedJob, starts_at: int, ends_at: int
) -> Injected | None:
    """Return a fault of this kind in this job; None: impossible at that time."""
    return _INJECT.get(kind, _plain)(planning, kind, job, starts_at, ends_at)


def suits(estate: Estate, kind: InjectedKind, job: SimulatedJob) -> bool:
    """Return whether this can happen to the job."""
    is_source = bool(job.outputs) and estate.datasets[job.outputs[0]].is_source
    if kind == "late_source":
        return is_source
    if kind == "retired_job":
        return not estate.descendants(job.outputs) and not is_source
    if kind == "provenance_leak":
        return len(job.inputs) > 1
    if kind == "backfill":
        return job.is_orchestrated and not is_source
    if kind == "spark_upgrade":
        return job.client == "spark"
    return not is_source


def works_through(estate: Estate, job: SimulatedJob, starts_at: int, ends_at: int) -> bool:
    """Return whether working days follow: only then a weekday job's fault shows."""
    if job.cadence != "weekday":
        return True
    holidays = estate.teams[job.team].region.holidays
    first, last = _date_of(starts_at), _date_of(ends_at + 12 * HOUR)
    days = [first + timedelta(days=each) for each in range((last - first).days + 1)]
    return all(day.weekday() < 5 and day not in holidays for day in days)  # noqa: PLR2004


def has_taught(estate: Estate, job: SimulatedJob, starts_at: int) -> bool:
    """Return whether a daily or weekday job has written often enough for a limit.

    A holiday takes a write away: a weekday job that began two weeks ago may have written 8 times.
    """
    if job.cadence not in {"daily", "weekday"}:
        return True
    at = begins_at(estate) - 1
    for _ in range(_WRITES_THAT_TEACH):
        at = next_slot(estate, job, at)
    return at < starts_at


def _date_of(at: int) -> date:
    return (EPOCH + timedelta(microseconds=at)).date()


def _plain(
    planning: PlannedFaults, kind: InjectedKind, job: SimulatedJob, starts_at: int, ends_at: int
) -> Injected:
    variant = planning.chance.choice(("fail", "lost")) if kind == "killed_job" else ""
    return Injected(kind, (job.number,), starts_at, ends_at, variant)


def _drift(
    planning: PlannedFaults, kind: InjectedKind, job: SimulatedJob, starts_at: int, ends_at: int
) -> Injected:
    """Return a fault of a job after which every second reader fails: its column is gone."""
    readers = [
        reader.number
        for each in job.outputs
        for reader in planning.estate.readers_of.get(each, ())
        if reader.reporting == "listener"
    ]
    failing = tuple(sorted(set(readers)))[::2]
    return Injected(kind, (job.number,), starts_at, ends_at, "", failing)


def _upgrade(
    planning: PlannedFaults, kind: InjectedKind, job: SimulatedJob, starts_at: int, ends_at: int
) -> Injected | None:
    """Return a fault of every third scheduled job of the pool; none where the pool is too small."""
    pool = [
        each
        for each in planning.estate.jobs
        if each.pool == job.pool
        and each.client == "spark"
        and each.cadence in {"daily", "weekday", "hourly"}
    ]
    broken = tuple(each.number for each in pool if each.reporting == "listener")[::3]
    is_weekend = any(not works_through(planning.estate, each, starts_at, ends_at) for each in pool)
    if len(broken) < 2 or is_weekend:  # noqa: PLR2004 - one alone has its own reasons
        return None
    jobs = tuple(each.number for each in pool)
    # Each a version of its own, so that each is distinct from the others.
    number = sum(each.kind == "spark_upgrade" for each in planning.found)
    return Injected(kind, jobs, starts_at, ends_at, f"4.4.{number}", broken)


def _skew(
    planning: PlannedFaults, kind: InjectedKind, job: SimulatedJob, starts_at: int, ends_at: int
) -> Injected:
    ahead = planning.chance.random() < 1 / 3
    shift, variant = (_AHEAD, "ahead") if ahead else (_BEHIND, "behind")
    return Injected(kind, (job.number,), starts_at, ends_at, variant, shift_seconds=shift)


def _retire(
    planning: PlannedFaults, kind: InjectedKind, job: SimulatedJob, starts_at: int, _ends_at: int
) -> Injected:
    ends_at = begins_at(planning.estate) + planning.estate.days * DAY
    return Injected(kind, (job.number,), starts_at, ends_at)


Maker = Callable[[PlannedFaults, InjectedKind, SimulatedJob, int, int], Injected | None]
_INJECT: Final[dict[InjectedKind, Maker]] = {
    "schema_drift": _drift,
    "spark_upgrade": _upgrade,
    "clock_skew": _skew,
    "retired_job": _retire,
}
