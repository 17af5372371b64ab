"""Time in which writes are due: a week without the hours in which a dataset is never written.

A weekday job's gap from Friday to Monday is one working day, so that it is not late on a Sunday and
a Monday teaches nothing wrong. Days off and holidays of the policy do not count either.
Everything is in wall time of the schedule's zone: in the weeks in which the clocks change,
a daily job's gap is still one day.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

HOUR_SECONDS = 3_600.0
WEEK_HOURS = 168
_WEEK_SECONDS = WEEK_HOURS * HOUR_SECONDS
# 1 January 1970 was a Thursday; weeks here begin on Monday.
THURSDAY_SECONDS = 3 * 86_400.0
_RECENT_WEEKS = 6
_MIN_WEEKS = 3
_MIN_USES, _USUAL_USES = 2, 3
_SLOW_HOURS = 1.5
# A single hour is left out by chance: a job near the full hour uses now one and now the other.
_PAUSE_OF_GAPS, _LEAST_PAUSE_HOURS = 1.5, 2.0
_ALIKE = 0.25

Floats = npt.NDArray[np.float64]
Micros = npt.NDArray[np.int64]
Hours = npt.NDArray[np.bool_]  # the 168 of a week, from Monday midnight
NO_PAUSES: Floats = np.zeros((0, 2))


def wall_seconds(micros: Micros, zone: str) -> Floats:
    """Return instants as seconds of wall time since a Monday midnight."""
    local = pd.to_datetime(micros, unit="us", utc=True).tz_convert(zone).tz_localize(None)
    seconds: Floats = local.astype("datetime64[us]").astype(np.int64).to_numpy() / 1e6
    return seconds + THURSDAY_SECONDS


def instant_micros(wall: Floats, zone: str) -> Micros:
    """Return the instants of wall times; the second of an hour that comes twice: none is early."""
    micros = np.round((np.atleast_1d(wall) - THURSDAY_SECONDS) * 1e6).astype(np.int64)
    local = pd.DatetimeIndex(micros.astype("datetime64[us]"))
    again = np.zeros(micros.size, dtype=np.bool_)
    instants = local.tz_localize(zone, ambiguous=again, nonexistent=pd.Timedelta(hours=1))
    return instants.tz_convert("UTC").as_unit("us").asi8  # type: ignore[no-any-return]


def working_hours(wall: Floats) -> Hours:
    """Return the hours of the week in which time counts.

    Off is what lies between two hours that are in use, once the usual gap has gone by since the
    first, if that is much longer than a usual gap: a weekend, or an hourly job's nights. It is as
    many usual gaps long as come nearest: a job that takes now one hour and now two still has its
    Monday a day after its Friday. Judged by the last 6 weeks, from 3 weeks on; an hour used once
    was chance. So is an unused one, where gaps are of all lengths, or where even the usual hour
    was used less than three times, as every second day's after an outage: nothing is left out then.
    """
    hours = np.ones(WEEK_HOURS, dtype=np.bool_)
    recent = wall[wall > wall[-1] - _RECENT_WEEKS * _WEEK_SECONDS] if wall.size else wall
    if recent.size < 2 or recent[-1] - recent[0] < _MIN_WEEKS * _WEEK_SECONDS:  # noqa: PLR2004
        return hours
    gaps = np.diff(recent)
    # Of a cadence that grew slower, the hours it no longer uses are no pause.
    newest = gaps[recent[1:] > recent[-1] - _WEEK_SECONDS]
    usual = max(float(np.median(gaps)), float(np.median(newest)))
    if float(np.median(np.abs(gaps - usual))) > _ALIKE * usual:
        return hours
    usual_hours = usual / HOUR_SECONDS
    uses = _uses(recent, is_slow=usual_hours >= _SLOW_HOURS)
    if float(np.median(uses[uses > 0])) < _USUAL_USES:
        return hours
    used = np.flatnonzero(uses >= _MIN_USES)
    whole = max(1, round(usual_hours))
    for hour, following in zip(used, np.append(used[1:], used[:1] + WEEK_HOURS), strict=True):
        if following - hour > max(_LEAST_PAUSE_HOURS, _PAUSE_OF_GAPS * usual_hours):
            length = round((following - hour - max(1.0, usual_hours)) / whole) * whole
            hours[np.arange(following - length, following) % WEEK_HOURS] = False
    return hours


def _uses(wall: Floats, *, is_slow: bool) -> npt.NDArray[np.int64]:
    """Count writes in each hour of the week; for a slow cadence the neighbours' too.

    A job that ends near the full hour uses now one and now the other.
    """
    uses = np.bincount(_hour_of_week(wall), minlength=WEEK_HOURS)
    near = uses + np.roll(uses, 1) + np.roll(uses, -1)
    return np.where(uses > 0, near, 0) if is_slow else uses


def _hour_of_week(wall: Floats) -> npt.NDArray[np.int64]:
    return ((wall % _WEEK_SECONDS) // HOUR_SECONDS).astype(np.int64)


def working_seconds(wall: Floats, hours: Hours, pauses: Floats = NO_PAUSES) -> Floats:
    """Return seconds in `hours`, and outside `pauses`, up to each wall time.

    Args:
        wall: as `wall_seconds` gives them.
        hours: those of the week that count.
        pauses: (start, end) in wall time, apart from one another and in order.
    """
    counted = _in_hours(wall, hours)
    if not pauses.size:
        return counted
    begin, end = _in_hours(pauses[:, 0], hours), _in_hours(pauses[:, 1], hours)
    over = np.concatenate(([0.0], np.cumsum(end - begin)))
    place = np.searchsorted(begin, counted, side="right")
    # Of the pause that began last, what has gone by of it.
    last = np.maximum(place - 1, 0)
    current = np.clip(np.minimum(counted, end[last]) - begin[last], 0.0, None)
    lost = np.where(place > 0, over[last] + current, 0.0)
    return counted - lost


def wall_at(working: Floats, hours: Hours, pauses: Floats = NO_PAUSES) -> Floats:
    """Return the wall times when so many seconds have gone: `working_seconds` reversed."""
    counted = np.atleast_1d(np.asarray(working, dtype=np.float64))
    if pauses.size:
        begin, end = _in_hours(pauses[:, 0], hours), _in_hours(pauses[:, 1], hours)
        over = np.concatenate(([0.0], np.cumsum(end - begin)))
        # Past a pause, not at its start: what falls due as it begins has until it is over.
        counted = counted + over[np.searchsorted(begin - over[:-1], counted, side="right")]
    return _hours_reversed(counted, hours)


def _in_hours(wall: Floats, hours: Hours) -> Floats:
    before = np.concatenate(([0], np.cumsum(hours)))
    hour = _hour_of_week(wall)
    into_hour = np.where(hours[hour], wall % HOUR_SECONDS, 0.0)
    weeks = wall // _WEEK_SECONDS
    seconds: Floats = (weeks * before[-1] + before[hour]) * HOUR_SECONDS + into_hour
    return seconds


def _hours_reversed(counted: Floats, hours: Hours) -> Floats:
    before = np.concatenate(([0], np.cumsum(hours))) * HOUR_SECONDS
    weeks, rest = np.divmod(counted, before[-1])
    hour = np.searchsorted(before, rest, side="right") - 1
    wall: Floats = weeks * _WEEK_SECONDS + hour * HOUR_SECONDS + rest - before[hour]
    return wall
