"""Time that counts for a dataset by the policy: its zone, days off, holidays, windows."""

import hashlib
from datetime import date, datetime, timedelta
from typing import TypeVar

import msgspec
import numpy as np
import pandas as pd

from lineage.graph.adjacency import Flags
from lineage.policy import Policy
from lineage.process.clock import to_micros
from slis.cadence.working_week import (
    NO_PAUSES,
    THURSDAY_SECONDS,
    WEEK_HOURS,
    Floats,
    Hours,
    Micros,
    instant_micros,
    wall_at,
    wall_seconds,
    working_hours,
    working_seconds,
)

_DAY_SECONDS = 86_400.0
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_EPOCH = date(1970, 1, 1)
# What is written more often runs by the hour, not by the wall's day.
_DAILY_SECONDS = 20 * 3_600.0
_NIGHT_SECONDS = 6 * 3_600.0
_SEPARATOR = "\n"
_DIGITS = 8
_T = TypeVar("_T", int, float, datetime)


class WorkingTime(msgspec.Struct, frozen=True):
    """Working time of the datasets that have a calendar and suppressions in common.

    Attributes:
        time_zone: of the calendar, else of the policy.
        days_off: weekdays, Monday is 0.
        windows: suppressions, as (from, until) in microseconds, in order and apart.
    """

    time_zone: str = "UTC"
    days_off: frozenset[int] = frozenset()
    holidays: tuple[date, ...] = ()
    windows: tuple[tuple[int, int], ...] = ()

    def hours(self, wall: Floats) -> Hours:
        """Return the hours of the week that count: neither off nor never used.

        A calendar's days off are whole days. What is written hourly may have
        nights as well; a weekend needs no second explanation.
        """
        learned = working_hours(wall)
        if not self.days_off:
            return learned
        declared = ~np.isin(np.arange(WEEK_HOURS) // 24, list(self.days_off))
        has_nights = wall.size > 1 and float(np.median(np.diff(wall))) < _NIGHT_SECONDS
        both = declared & learned if has_nights else declared
        # What is never written but on days off has no other time than those.
        return both if both.any() else learned

    def pauses(self) -> Floats:
        """Return (start, end) in wall time of holidays, joined where they touch.

        Windows are none: a schedule goes on through them, and its hour would be another after them.
        """
        return _joined(sorted(_whole_day(day) for day in self.holidays))

    def in_window(self, micros: Micros) -> Flags:
        """Return which instants lie in a suppression."""
        return self.out_of_windows(micros) > micros

    def spans_window(self, micros: Micros) -> Flags:
        """Return whether a suppression overlaps the time since the previous instant; first: no."""
        spans = np.zeros(micros.size, dtype=np.bool_)
        for start, end in self.windows:
            spans[1:] |= (micros[1:] > start) & (micros[:-1] < end)
        return spans

    def out_of_windows(self, micros: Micros) -> Micros:
        """Move instants in a suppression to its end; return all."""
        for start, end in self.windows:
            micros = np.where((micros >= start) & (micros < end), end, micros)
        return micros

    def after_windows(self, since: Micros, due: Micros) -> Micros:
        """Move the deadlines by the time from `since` to them that lies in suppressions."""
        for start, end in self.windows:
            is_between = (start < due) & (end > since)
            due = np.where(is_between, due + end - np.maximum(start, since), due)
        return due

    def due(self, at: Micros, working: Floats, hours: Hours, *, usual_gap: float) -> Micros:
        """Return when so many working seconds have gone, for gaps that began at `at`.

        An hourly job runs each hour, though the clocks are changed: the later of both is due.
        """
        wall = wall_at(working, hours, self.pauses())
        by_wall = instant_micros(wall, self.time_zone)
        if usual_gap >= _DAILY_SECONDS:
            return by_wall
        elapsed = np.round((wall - wall_seconds(at, self.time_zone)) * 1e6).astype(np.int64)
        later: Micros = np.maximum(by_wall, at + elapsed)
        return later

    def working(self, wall: Floats, hours: Hours) -> Floats:
        """Return the working seconds up to each wall time."""
        return working_seconds(wall, hours, self.pauses())


def plan_of(policy: Policy, calendar: str | None, suppressions: list[str]) -> str | None:
    """Return the name of a dataset's working time; None where only the policy's zone counts.

    Another content gives another name: what was learned by the old one is then learned again.
    """
    if calendar is None and not suppressions:
        return None
    calendars = [one for one in policy.calendars if one.name == calendar]
    planned = [one for one in policy.suppressions if one.name in suppressions]
    content = msgspec.json.encode([calendars, planned, policy.time_zone])
    digest = hashlib.sha256(content).hexdigest()[:_DIGITS]
    return _SEPARATOR.join([digest, calendar or "", *sorted(suppressions)])


def working_time(policy: Policy, plan: str | None) -> WorkingTime:
    """Return the working time that `plan_of` named."""
    if plan is None:
        return WorkingTime(policy.time_zone)
    _, name, *planned = plan.split(_SEPARATOR)
    spans = (
        (to_micros(one.once[0]), to_micros(one.once[1]))
        for one in policy.suppressions
        if one.name in planned and one.once
    )
    windows = tuple(_merged(sorted(spans)))
    calendar = next((one for one in policy.calendars if one.name == name), None)
    if calendar is None:
        return WorkingTime(policy.time_zone, windows=windows)
    days_off = frozenset(_WEEKDAYS.index(day) for day in calendar.days_off)
    return WorkingTime(calendar.time_zone, days_off, calendar.dates(), windows)


def _whole_day(day: date) -> tuple[float, float]:
    start = (day - _EPOCH).days * _DAY_SECONDS + THURSDAY_SECONDS
    return start, start + _DAY_SECONDS


def _joined(spans: list[tuple[float, float]]) -> Floats:
    return np.array(_merged(spans)) if spans else NO_PAUSES


def off_spans(
    time: WorkingTime, first: datetime, last: datetime
) -> list[tuple[datetime, datetime]]:
    """Return (start, end) of all time between two instants that does not count, in order."""
    zone = time.time_zone
    begin, end = (pd.Timestamp(instant).tz_convert(zone) for instant in (first, last))
    days = pd.date_range(begin.normalize(), end, freq="D")
    off = [
        (day.to_pydatetime(), (day + pd.DateOffset(days=1)).to_pydatetime())
        for day in days
        if day.weekday() in time.days_off or day.date() in time.holidays
    ]
    micro = timedelta(microseconds=1)
    epoch = pd.Timestamp(0, tz="UTC").to_pydatetime()
    off += [(epoch + start * micro, epoch + end * micro) for start, end in time.windows]
    return _merged(sorted(off))


def _merged(spans: list[tuple[_T, _T]]) -> list[tuple[_T, _T]]:
    """Return spans in order, those that touch as one."""
    merged: list[tuple[_T, _T]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
