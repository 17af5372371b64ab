"""Which faults an estate is given, and what is true of each: root, owner, impact and time.

Two faults whose times touch never hurt the same dataset, so that each message has one right answer.
"""

import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import msgspec

from lineage.policy.model import Suppression
from runbooks.gameday.injected import Injected
from runbooks.gameday.injectors import inject, suits, works_through
from runbooks.gameday.model import DAY, HOUR, MINUTE, Cadence, Estate, Job
from runbooks.gameday.slots import begins_at, wall
from runbooks.gameday.truth import KINDS, SILENT_KINDS, Kind, Truth
from runbooks.gameday.truths import REST, hurt_by, is_outage, standing, truth_of, windows

TEACHING_DAYS: Final = 10
_TRIES: Final = 400
_BEFORE: Final = 20 * MINUTE  # of the slot that is the first to be hurt
# How long each lasts, by the cadence of its job: past two deadlines, and mended between slots.
_LASTS: Final[dict[Cadence, int]] = {
    "daily": 34 * HOUR,
    "weekday": 34 * HOUR,
    "hourly": 7 * HOUR,
    "quarter": 4 * HOUR,
}
_CADENCES_OF: Final[dict[Kind, tuple[Cadence, ...]]] = {
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
}
# Before it a limit has too few gaps to be learned from.
_READY_DAYS: Final[dict[Cadence, int]] = {"daily": 11, "weekday": 14, "hourly": 10, "quarter": 10}
_RARE: Final[tuple[Kind, ...]] = ("collector_outage", "holiday")
_GRAVE: Final = 0.6
_TOGETHER: Final = (1, 1, 1, 1, 2, 1, 1, 3)  # how many begin at once, again and again


class _NoJobFreeError(ValueError):
    """No job is left for a kind that was asked for."""


class Day(msgspec.Struct, frozen=True):
    """A game day that is planned: what is done, what is true, and what the policy announces."""

    injected: tuple[Injected, ...]
    truth: Truth
    suppressions: tuple[Suppression, ...]


def plan(estate: Estate, count: int, kinds: Sequence[Kind] = KINDS) -> Day:
    """So many faults of these kinds, from the seed of the estate.

    Raises:
        ValueError: the estate is too small, or its time too short, for a kind that was asked for.
    """
    planning = _planned(estate, count, kinds)
    faults = tuple(truth_of(estate, each) for each in planning.found)
    begins = begins_at(estate)
    truth = Truth(
        seed=estate.seed,
        datasets=len(estate.datasets),
        days=estate.days,
        starts_at=begins,
        judged_from=begins + planning.teaching * DAY,
        ends_at=begins + estate.days * DAY,
        faults=faults,
        standing=tuple(sorted(standing(estate))),
    )
    return Day(planning.found, truth, tuple(windows(estate, planning.found)))


def _in_turn(chance: random.Random, count: int, kinds: Sequence[Kind]) -> list[Kind]:
    """Each kind alike, but for those that need the whole estate: few of these, and first.

    So are upgrades, which need many jobs at once that nothing else hurts.
    """
    few: list[Kind] = [kind for kind in _RARE if kind in kinds]
    many = [kind for kind in kinds if kind not in few] or few
    rest = [many[at % len(many)] for at in range(max(0, count - len(few)))]
    chance.shuffle(rest)
    rest.sort(key=lambda kind: kind != "spark_upgrade")
    return [*few, *rest][:count]


class _Planning:
    def __init__(self, estate: Estate) -> None:
        self.estate = estate
        self.chance = random.Random(f"{estate.seed} faults")  # noqa: S311 - made up, no secret
        self.teaching = min(TEACHING_DAYS, estate.days // 2)
        self.found: tuple[Injected, ...] = ()
        self._hurt: list[frozenset[int]] = []
        self._day = self.teaching

    def add(self, kind: Kind) -> None:
        made = self._made(kind)
        self.found = (*self.found, made)
        self._hurt.append(hurt_by(self.estate, made))

    def _made(self, kind: Kind) -> Injected:
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
        raise _NoJobFreeError(message)

    def _companion(self) -> int | None:
        """The day of the one before, for those that are to come two and three at once."""
        place = len(self.found)
        run = 0
        for size in _TOGETHER * (place // len(_TOGETHER) + 1):
            if run < place < run + size:
                return self._day
            run += size
        return None

    def _try(self, kind: Kind, day: int | None) -> Injected | None:
        job = self._job_for(kind)
        if job is None:
            return None
        ready = self.teaching if self.estate.days < 12 else _READY_DAYS[job.cadence]  # noqa: PLR2004
        lasts = self._lasts(kind, job)
        last = self.estate.days - 1 - -(-(lasts + REST) // DAY)
        if last < ready:
            return None
        self._day = self.chance.randint(ready, last) if day is None else min(max(day, ready), last)
        starts_at = self._slot(job, self._day) - _BEFORE
        if not works_through(self.estate, job, starts_at, starts_at + lasts):
            return None
        return inject(self, kind, job, starts_at, starts_at + lasts)

    def _job_for(self, kind: Kind) -> Job | None:
        cadences = _CADENCES_OF[kind]
        if self.estate.days < 12 and "hourly" in cadences:  # noqa: PLR2004 - daily ones take days
            cadences = ("hourly",)
        fitting = [
            job
            for job in self.estate.jobs
            if job.cadence in cadences
            and job.reporting == "listener"
            and suits(self.estate, kind, job)
        ]
        # Most hurt somebody who is woken for it; a pool is drawn anew where one of its jobs is.
        grave = [job for job in fitting if _is_grave(self.estate, job)]
        is_grave = bool(grave) and self.chance.random() < _GRAVE
        return self.chance.choice(grave if is_grave else fitting) if fitting else None

    def _lasts(self, kind: Kind, job: Job) -> int:
        if kind == "provenance_leak" and job.cadence != "hourly":
            return 3 * DAY
        if kind == "planned_deployment":
            return 10 * HOUR
        return 4 * HOUR if kind == "backfill" else _LASTS[job.cadence]

    def _slot(self, job: Job, day: int) -> int:
        """Of a daily job on that day, in its own zone; of others, some time of the day."""
        begins = begins_at(self.estate) + day * DAY
        if job.cadence not in {"daily", "weekday"}:
            return begins + self.chance.randint(2, 14) * HOUR + job.at_seconds * 1_000_000
        zone = self.estate.teams[job.team].region.zone
        return wall(zone, self.estate.first_day + timedelta(days=day), job.at_seconds)

    def _is_free(self, made: Injected) -> bool:
        hurt = hurt_by(self.estate, made)
        for other, own in zip(self.found, self._hurt, strict=True):
            is_near = is_outage(other) or own & hurt
            if other.kind != "holiday" and is_near and _touches(made, other):
                return False
        return True

    def _outage(self) -> Injected:
        """On a day on which little else is done: nothing else is known while it lasts."""
        first, last = self.teaching + 1, self.estate.days - 2
        days = [day for day in range(first, last + 1) if self._weekday(day) == 5]  # noqa: PLR2004
        day = self.chance.choice(days or [max(self.teaching, min(first, last))])
        starts_at = begins_at(self.estate) + day * DAY + self.chance.randint(60, 90) * 10 * MINUTE
        lasts = self.chance.randint(60, 150) * MINUTE
        return Injected("collector_outage", (), starts_at, starts_at + lasts)

    def _weekday(self, day: int) -> int:
        return (self.estate.first_day + timedelta(days=day)).weekday()

    def _holiday(self) -> Injected:
        """The first that is judged: all weekday jobs of a region stay at home."""
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


def _planned(
    estate: Estate, count: int, kinds: Sequence[Kind], first: tuple[Kind, ...] = ()
) -> _Planning:
    """Plan all kinds; try again with a kind first if others have taken its few jobs."""
    planning = _Planning(estate)
    in_turn = _in_turn(planning.chance, count, kinds)
    for kind in sorted(in_turn, key=lambda kind: kind not in (*_RARE, *first)):
        try:
            planning.add(kind)
        except _NoJobFreeError:
            if kind in first:
                raise
            return _planned(estate, count, kinds, (*first, kind))
    return planning


def _touches(one: Injected, other: Injected) -> bool:
    """Whether one could be told while the rest of the other is."""
    room = max(_room_after(one), _room_after(other))
    return one.starts_at < other.ends_at + room and other.starts_at < one.ends_at + room


def _room_after(each: Injected) -> int:
    """What fell due while nobody listened is unknown for a cycle."""
    if is_outage(each):
        return 40 * HOUR
    is_daily = each.ends_at - each.starts_at > _LASTS["hourly"] or each.kind in SILENT_KINDS
    return DAY + REST if is_daily else REST


def _is_grave(estate: Estate, job: Job) -> bool:
    made = estate.descendants(job.outputs)
    return bool(made) and estate.is_critical({*made, *job.outputs})
