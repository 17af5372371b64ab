"""Mute times of Alertmanager: suppressions of the policy that cover all datasets.

Alertmanager knows recurring times only, so that one span becomes a few, each of which the year
lets happen once. Those that come by cron are left out: the service itself knows what they hide.
"""

from calendar import monthrange
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from lineage.policy.model import MatchPattern, Policy
from lineage.policy.patterns import PatternParts

_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)


def build_mute_times(policy: Policy) -> list[dict[str, Any]]:
    """Return the entries of Alertmanager's `time_intervals`, by the suppressions' names, in UTC."""
    return [
        {"name": one.name, "time_intervals": list(_intervals(*one.once))}
        for one in policy.suppressions
        if one.once and _matches_all(one.match)
    ]


def _matches_all(match: MatchPattern) -> bool:
    if isinstance(match, PatternParts):
        return {*match.namespace, *match.name} == {"*"}
    return set(match) == {"*"}


def _intervals(begin: datetime, until: datetime) -> Iterator[dict[str, Any]]:
    """Yield whole minutes from one to the other, including the last one begun."""
    start = begin.astimezone(UTC).replace(second=0, microsecond=0)
    end = until.astimezone(UTC) + _MINUTE - timedelta(microseconds=1)
    end = end.replace(second=0, microsecond=0)
    if start.date() == end.date():
        yield _day_part(start.date(), f"{start:%H:%M}", f"{end:%H:%M}")
        return
    first = start.date()
    if start.time() != time():
        yield _day_part(first, f"{start:%H:%M}", "24:00")
        first += _DAY
    yield from _whole_days(first, end.date())
    if end.time() != time():
        yield _day_part(end.date(), "00:00", f"{end:%H:%M}")


def _day_part(day: date, start: str, end: str) -> dict[str, Any]:
    return {"times": [{"start_time": start, "end_time": end}], **_days(day, day.day)}


def _whole_days(first: date, end: date) -> Iterator[dict[str, Any]]:
    """Yield the days from `first` until before `end`, a month each."""
    while first < end:
        month_end = first.replace(day=monthrange(first.year, first.month)[1])
        last = min(month_end, end - _DAY)
        yield _days(first, last.day)
        first = last + _DAY


def _days(day: date, last: int) -> dict[str, Any]:
    return {
        "days_of_month": [f"{day.day}:{last}"],
        "months": [f"{day.month}"],
        "years": [f"{day.year}"],
    }
