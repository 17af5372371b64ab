"""Time in which writes are due: a week without the hours in which a dataset is never written.

A weekday job's gap from Friday to Monday is one working day, so that it is not late on a Sunday and
a Monday teaches nothing wrong. Everything is in wall time of the schedule's zone: in the weeks in
which the clocks change, a daily job's gap is still one day.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

HOUR_SECONDS = 3_600.0
WEEK_HOURS = 168
_WEEK_SECONDS = WEEK_HOURS * HOUR_SECONDS
# 1 January 1970 was a Thursday; weeks here begin on Monday.
_THURSDAY_SECONDS = 3 * 86_400.0
_RECENT_WEEKS = 6
_MIN_WEEKS = 3
_MIN_USES = 2
_PAUSE_OF_GAPS = 1.5

Floats = npt.NDArray[np.float64]
Hours = npt.NDArray[np.bool_]


def wall_seconds(micros: npt.NDArray[np.int64], zone: str) -> Floats:
    """Instants as seconds of wall time since a Monday midnight."""
    local = pd.to_datetime(micros, unit="us", utc=True).tz_convert(zone).tz_localize(None)
    seconds: Floats = local.astype("datetime64[us]").astype(np.int64).to_numpy() / 1e6
    return seconds + _THURSDAY_SECONDS


def instant_micros(wall: float, zone: str) -> int:
    """The instant of a wall time; of an hour that comes twice, the second: nothing is due early."""
    local = pd.Timestamp(round((wall - _THURSDAY_SECONDS) * 1e6), unit="us")
    instant = local.tz_localize(zone, ambiguous=False, nonexistent="shift_forward")
    return int(instant.value) // 1_000


def working_hours(wall: Floats) -> Hours:
    """The hours of the week in which time counts.

    Off is what lies between two hours that are in use, once the usual gap has gone by since the
    first, if that is much longer than a usual gap: a weekend, or an hourly job's nights. Judged by
    the last 6 weeks, from 3 weeks on; an hour used once was chance.
    """
    hours = np.ones(WEEK_HOURS, dtype=np.bool_)
    recent = wall[wall > wall[-1] - _RECENT_WEEKS * _WEEK_SECONDS] if wall.size else wall
    if recent.size < 2 or recent[-1] - recent[0] < _MIN_WEEKS * _WEEK_SECONDS:  # noqa: PLR2004
        return hours
    uses = np.bincount(_hour_of_week(recent), minlength=WEEK_HOURS)
    used = np.flatnonzero(uses >= _MIN_USES)
    usual_hours = float(np.median(np.diff(recent))) / HOUR_SECONDS
    for hour, following in zip(used, np.append(used[1:], used[:1] + WEEK_HOURS), strict=True):
        if following - hour > max(1.0, _PAUSE_OF_GAPS * usual_hours):
            pause = np.arange(hour + max(1, int(np.ceil(usual_hours))), following)
            hours[pause % WEEK_HOURS] = False
    return hours


def _hour_of_week(wall: Floats) -> npt.NDArray[np.int64]:
    return ((wall % _WEEK_SECONDS) // HOUR_SECONDS).astype(np.int64)


def working_seconds(wall: Floats, hours: Hours) -> Floats:
    """Seconds in `hours` up to each wall time."""
    before = np.concatenate(([0], np.cumsum(hours)))
    hour = _hour_of_week(wall)
    into_hour = np.where(hours[hour], wall % HOUR_SECONDS, 0.0)
    weeks = wall // _WEEK_SECONDS
    seconds: Floats = (weeks * before[-1] + before[hour]) * HOUR_SECONDS + into_hour
    return seconds


def wall_at(working: float, hours: Hours) -> float:
    """The wall time by which that many seconds in `hours` have gone: `working_seconds` reversed."""
    before = np.concatenate(([0], np.cumsum(hours))) * HOUR_SECONDS
    weeks, rest = divmod(working, before[-1])
    # Past a pause, not at its start: what falls due as the pause begins has until it is over.
    hour = int(np.searchsorted(before, rest, side="right")) - 1
    return float(weeks * _WEEK_SECONDS + hour * HOUR_SECONDS + rest - before[hour])
