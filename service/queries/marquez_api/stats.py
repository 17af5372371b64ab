"""Numbers of runs that started, completed and failed by hour or day, as Marquez counts events."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from lineage.catalog.job_names import NAMESPACE_PART, WITH_EVERY_JOB
from lineage.catalog.reader import CatalogReader
from lineage.process.clock import from_micros, to_micros
from service.errors import InvalidQuestionError
from service.queries.marquez_api.job_list import MOST_JOBS
from service.queries.marquez_api.shapes import EventCounts
from service.queries.timestamps import iso_of

_LONGEST_RUN: Final = timedelta(days=1)  # that is looked for: runs are found by when they began
_SLOT: Final = 900_000_000  # µs; a day of every time zone begins at one
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_KINDS: Final = ("started_at", "completed_at", "failed_at")
_COUNT = """
SELECT '{kind}', {kind} / {slot}, COUNT(*) FROM begun WHERE {kind} >= :since
GROUP BY {kind} / {slot}
"""
_COUNTS = f"""
{WITH_EVERY_JOB.rstrip()}, begun AS (
  SELECT r.started_at, r.completed_at, r.failed_at
  FROM (SELECT part, name FROM job WHERE name <> '' LIMIT {MOST_JOBS}) AS j
  JOIN run r ON {NAMESPACE_PART.replace("job_namespace", "r.job_namespace")} = j.part
    AND r.job_name = j.name AND r.first_event_at >= :begun_since
)
{" UNION ALL ".join(_COUNT.format(kind=kind, slot=_SLOT) for kind in _KINDS)}
"""  # noqa: S608 - SQL of ours


class _Interval(msgspec.Struct):
    begin: datetime
    end: datetime
    counts: dict[str, int] = msgspec.field(default_factory=lambda: dict.fromkeys(_KINDS, 0))


def counts_of_day(reader: CatalogReader, now: datetime) -> list[EventCounts]:
    """Return the counts of the last 24 hours, the hour that has begun included."""
    hour = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    begins = [hour - number * _HOUR for number in range(23, -1, -1)]
    return _counts(reader, [_Interval(begin, begin + _HOUR) for begin in begins])


def counts_of_week(reader: CatalogReader, now: datetime, timezone: str) -> list[EventCounts]:
    """Return the counts of the last seven days of a time zone, today included.

    Raises:
        InvalidQuestionError: there is no such time zone.
    """
    zone = _zone(timezone)
    today = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    days = [today - number * _DAY for number in range(6, -2, -1)]
    begins = [day.replace(tzinfo=zone) for day in days]
    return _counts(reader, [_Interval(*pair) for pair in pairwise(begins)])


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        message = f"timezone: expected a name such as Europe/London, got {name[:80]!r}"
        raise InvalidQuestionError(message) from error


def _counts(reader: CatalogReader, intervals: list[_Interval]) -> list[EventCounts]:
    since = intervals[0].begin
    values = {"since": to_micros(since), "begun_since": to_micros(since - _LONGEST_RUN)}
    for kind, slot, count in reader.rows(_COUNTS, values):
        begin = from_micros(slot * _SLOT)
        for interval in _around(intervals, begin):
            interval.counts[kind] += count
    return [_answer(interval) for interval in intervals]


def _around(intervals: Iterable[_Interval], at: datetime) -> list[_Interval]:
    return [one for one in intervals if one.begin <= at < one.end]


def _answer(interval: _Interval) -> EventCounts:
    return EventCounts(
        start_interval=iso_of(to_micros(interval.begin)),
        end_interval=iso_of(to_micros(interval.end)),
        fail=interval.counts["failed_at"],
        start=interval.counts["started_at"],
        complete=interval.counts["completed_at"],
    )
