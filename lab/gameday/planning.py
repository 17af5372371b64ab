"""Time and job of each fault.

Two faults whose times touch never affect the same dataset: each message has one right answer.
"""

import random
from datetime import timedelta
from typing import Final

from lab.gameday.fault_truth import REST, affected_by, is_outage
from lab.gameday.injected import Injected
from lab.gameday.injectors import has_taught, inject, suits, works_through
from lab.gameday.model import DAY, HOUR, MINUTE_MICROS, Estate, JobCadence, SimulatedJob
from lab.gameday.slots import begins_at, wall
from lab.gameday.truth_shapes import SILENT_KINDS, InjectedKind
from lineage.process.clock import SECOND_MICROS

TEACHING_DAYS: Final = 10
_TRIES: Final = 400
_BEFORE: Final = 20 * MINUTE_MICROS  # of the slot that is the first to be affected
# How long each lasts, by the cadence of its job: past two deadlines, and over between two slots.
_LASTS: Final[dict[JobCadence, int]] = {
    "daily": 34 * HOUR,
    "weekday": 34 * HOUR,
    "hourly": 7 * HOUR,
    "quarter": 4 * HOUR,
}
_CADENCES_OF: Final[dict[InjectedKind, tuple[JobCadence, ...]]] = {
    "killed_job": ("daily", "weekday", "hourly"),
    "silent_listener": ("daily", "weekday", "hourly"),
    "late_source": ("daily", "weekday"),
    "schema_drift": ("daily", "weekday"),
    "renamed_dataset": ("daily", "weekday"),
    "spark_upgrade": ("daily", "weekday"),
    "clock_skew": ("hourly",),
    "flapping_job": ("quarter",),
    "provenance_leak": ("daily", "weekday", "hourly"),
    "backfill": ("daily",),
    "planned_deployment": ("daily",),
    "retired_job": ("daily", "weekday"),
    "rerun_by_hand": ("daily", "weekday"),
}
_BY_HAND: Final = 4 * HOUR  # what a person begins
# Before it a limit has too few gaps to be learned from.
_READY_DAYS: Final[dict[JobCadence, int]] = {
    "daily": 11,
    "weekday": 14,
    "hourly": 10,
    "quarter": 10,
}
# In a shorter estate, kinds that may affect hourly jobs affect only these: others lack gaps.
_SHORT_DAYS: Final = 12
_GRAVE: Final = 0.6
_TOGETHER: Final = (1, 1, 1, 1, 2, 1, 1, 3)  # how many begin at once, again and again


class NoJobFreeError(ValueError):
    """Error: no job is left for a kind that was asked for."""


class Planning:
    """Plan one fault after another, from the seed of the estate."""

    def __init__(self, estate: Estate) -> None:
        self.estate = estate
        self.chance = random.Random(f"{estate.seed} faults")  # noqa: S311 - made up, no secret
        self._is_short = estate.days < _SHORT_DAYS
        self.teaching = min(TEACHING_DAYS, estate.days // 2)
        self.found: tuple[Injected, ...] = ()
        self._affected: list[frozenset[int]] = []
        self._day = self.teaching

    def add(self, kind: InjectedKind) -> None:
        """Plan a fault of this kind.

        Raises:
            NoJobFreeError: no job is left for it.
            ValueError: the estate has no holiday.
        """
        made = self._made(kind)
        self.found = (*self.found, made)
        self._affected.append(affected_by(self.estate, made))

    def _made(self, kind: InjectedKind) -> Injected:
        if kind == "collector_outage":
            return self._outage()
        if kind == "holiday":
            return self._holiday()
        near = self._companion()
        for attempt in range(_TRIES):
            made = self._try(kind, near if attempt < _TRIES // 2 else None)
            if made is not None and self._is_free(made):
                return made
        message = (
            f"{kind}: no job of the {len(self.estate.datasets)} datasets in {self.estate.days} days"
            " is free for it; ask for fewer faults, more datasets or more days"
        )
        raise NoJobFreeError(message)

    def _companion(self) -> int | None:
        """Return the day of the fault before, where two or three are to begin at once."""
        place = len(self.found)
        run = 0
        for size in _TOGETHER * (place // len(_TOGETHER) + 1):
            if run < place < run + size:
                return self._day
            run += size
        return None

    def _try(self, kind: InjectedKind, day: int | None) -> Injected | None:
        job = self._job_for(kind)
        if job is None:
            return None
        ready = self.teaching if self._is_short else _READY_DAYS[job.cadence]
        lasts = self._lasts(kind, job)
        last = self.estate.days - 1 - -(-(lasts + REST) // DAY)
        if last < ready:
            return None
        self._day = self.chance.randint(ready, last) if day is None else min(max(day, ready), last)
        starts_at = self._slot(job, self._day) - _BEFORE
        if not works_through(self.estate, job, starts_at, starts_at + lasts):
            return None
        if not self._is_short and not has_taught(self.estate, job, starts_at):
            return None
        return inject(self, kind, job, starts_at, starts_at + lasts)

    def _job_for(self, kind: InjectedKind) -> SimulatedJob | None:
        cadences = _CADENCES_OF[kind]
        if self._is_short and "hourly" in cadences:
            cadences = ("hourly",)
        fitting = [
            job
            for job in self.estate.jobs
            if job.cadence in cadences
            and job.reporting == "listener"
            and suits(self.estate, kind, job)
        ]
        # Most affect somebody who is paged for it; a pool is drawn again where one of its jobs is.
        grave = [job for job in fitting if _is_grave(self.estate, job)]
        is_grave = bool(grave) and self.chance.random() < _GRAVE
        return self.chance.choice(grave if is_grave else fitting) if fitting else None

    def _lasts(self, kind: InjectedKind, job: SimulatedJob) -> int:
        if kind == "provenance_leak" and job.cadence != "hourly":
            return 3 * DAY
        if kind == "planned_deployment":
            return 10 * HOUR
        return _BY_HAND if kind in {"backfill", "rerun_by_hand"} else _LASTS[job.cadence]

    def _slot(self, job: SimulatedJob, day: int) -> int:
        """Return the slot of a daily job on that day, in its zone; of others, some time of it."""
        begins = begins_at(self.estate) + day * DAY
        if job.cadence not in {"daily", "weekday"}:
            return begins + self.chance.randint(2, 14) * HOUR + job.at_seconds * SECOND_MICROS
        zone = self.estate.teams[job.team].region.zone
        return wall(zone, self.estate.first_day + timedelta(days=day), job.at_seconds)

    def _is_free(self, made: Injected) -> bool:
        affected = affected_by(self.estate, made)
        for other, own in zip(self.found, self._affected, strict=True):
            is_near = is_outage(other) or own & affected
            if other.kind != "holiday" and is_near and _touches(made, other):
                return False
        return True

    def _outage(self) -> Injected:
        """Plan it on a day with little else: nothing else is known while it lasts."""
        first, last = self.teaching + 1, self.estate.days - 2
        days = [day for day in range(first, last + 1) if self._weekday(day) == 5]  # noqa: PLR2004
        day = self.chance.choice(days or [max(self.teaching, min(first, last))])
        starts_at = (
            begins_at(self.estate) + day * DAY + self.chance.randint(60, 90) * 10 * MINUTE_MICROS
        )
        lasts = self.chance.randint(60, 150) * MINUTE_MICROS
        return Injected("collector_outage", (), starts_at, starts_at + lasts)

    def _weekday(self, day: int) -> int:
        return (self.estate.first_day + timedelta(days=day)).weekday()

    def _holiday(self) -> Injected:
        """Plan the first one that is judged: no weekday job of a region runs."""
        estate = self.estate
        first = estate.first_day + timedelta(days=self.teaching)
        last = estate.first_day + timedelta(days=estate.days - 2)
        regions = dict.fromkeys(team.region for team in estate.teams)
        found = [(day, region) for region in regions for day in region.holidays]
        within = sorted((day, each.name) for day, each in found if first <= day <= last)
        if not within:
            raise ValueError(f"holiday: there is none from {first} to {last}; ask for more days")
        day, name = within[0]
        region = next(each for each in regions if each.name == name)
        jobs = [
            job.number
            for job in estate.jobs
            if job.cadence == "weekday" and estate.teams[job.team].region == region
        ]
        return Injected(
            "holiday", tuple(jobs), wall(region.zone, day, 0), wall(region.zone, day, 86_400)
        )


def _touches(one: Injected, other: Injected) -> bool:
    """Return whether one could be notified while the rest of the other is."""
    room = max(_room_after(one), _room_after(other))
    return one.starts_at < other.ends_at + room and other.starts_at < one.ends_at + room


def _room_after(each: Injected) -> int:
    """Return the time after it: what fell due in an outage is unknown for a cycle."""
    if is_outage(each):
        return 40 * HOUR
    is_daily = each.ends_at - each.starts_at > _LASTS["hourly"] or each.kind in SILENT_KINDS
    return DAY + REST if is_daily else REST


def _is_grave(estate: Estate, job: SimulatedJob) -> bool:
    made = estate.descendants(job.outputs)
    return bool(made) and estate.is_critical({*made, *job.outputs})
