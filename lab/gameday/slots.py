"""Due times of jobs: by their cadence, and by the clocks and holidays of their team's place."""

import random
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from lab.gameday.model import DAY, MINUTE_MICROS, Estate, JobCadence, SimulatedJob
from lineage.process.clock import EPOCH, SECOND_MICROS

PERIODS: Final[dict[JobCadence, int]] = {"hourly": 3_600, "quarter": 900, "streaming": 1_800}
_SATURDAY: Final = 5


def micros(instant: datetime) -> int:
    """Return the microseconds since 1970 UTC."""
    return (instant - EPOCH) // timedelta(microseconds=1)


@lru_cache(maxsize=100_000)
def wall(zone: str, day: date, seconds: int) -> int:
    """Return the instant of a local time of day, in µs UTC."""
    at = datetime.combine(day, time(), ZoneInfo(zone)) + timedelta(seconds=seconds)
    return micros(at.astimezone(UTC))


def begins_at(estate: Estate) -> int:
    """Return the first instant of the first day: midnight UTC."""
    return micros(datetime.combine(estate.first_day, time(), UTC))


def next_slot(estate: Estate, job: SimulatedJob, after: int) -> int:
    """Return the first slot of the job behind that instant, µs UTC."""
    begins = begins_at(estate)
    if (period := PERIODS.get(job.cadence)) is not None:
        step, own = period * SECOND_MICROS, job.at_seconds * SECOND_MICROS
        return (after - begins - own) // step * step + step + begins + own
    if job.cadence == "adhoc":
        chance = random.Random(f"{estate.seed} look {job.number} {after}")  # noqa: S311
        return after + round(chance.expovariate(1 / 2) * DAY) + MINUTE_MICROS
    return _next_working_slot(estate, job, after)


def _next_working_slot(estate: Estate, job: SimulatedJob, after: int) -> int:
    region = estate.teams[job.team].region
    day = (EPOCH + timedelta(microseconds=after)).astimezone(ZoneInfo(region.zone)).date()
    while True:
        at = wall(region.zone, day, job.at_seconds)
        is_off = day.weekday() >= _SATURDAY or day in region.holidays
        if at > after and not (is_off and job.cadence == "weekday"):
            return at
        day += timedelta(days=1)
