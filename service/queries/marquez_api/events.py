"""Events of the lake, without their secrets, and counts of runs, as Marquez lists them."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from lineage.catalog.job_names import NAMESPACE_PART, WITH_EVERY_JOB
from lineage.catalog.reader import CatalogReader, open_reader
from lineage.errors import InvalidRequestError
from lineage.lake.manifest import Folder, list_folders
from lineage.lake.reading import LakeChangedError, read_again, read_events
from lineage.lake.storage import Lake
from lineage.process.clock import from_micros, to_micros
from lineage.redaction import redact_json
from service.errors import NotReadyError
from service.queries.marquez_api.job_list import MOST_JOBS
from service.queries.marquez_api.paging import PageRange, capped_total, count_up_to
from service.queries.marquez_api.shapes import EventCounts, Events
from service.queries.timestamps import iso_of
from service.runtime.settings import Settings

MOST_BYTES: Final = 16 << 20  # of the events of one answer
MOST_PLACES: Final = 10_000  # events from the first of the window that a page may end at
NO_LAKE: Final = (
    "no lake on this machine: raw events are stored with the pipeline, unless LINEWARD_LAKE_URL"
    " names a bucket"
)
_BODIES_AT_ONCE = 32  # an event has 10 MiB at most
_COUNT_CUT: Final = "totalCount counts only the events of the last days"
_BYTES_CUT: Final = f"the events of this page have more than {MOST_BYTES >> 20} MiB: ask for fewer"
_COUNT = "SELECT 1 AS one FROM event WHERE event_time >= :after AND event_time < :before"

_LONGEST_RUN: Final = timedelta(days=1)  # that is looked for: runs are found by when they began
_SLOT: Final = 900_000_000  # µs; a day of every time zone begins at one
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_KINDS: Final = ("started_at", "completed_at", "failed_at")
_COUNT_OF_KIND = """
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
{" UNION ALL ".join(_COUNT_OF_KIND.format(kind=kind, slot=_SLOT) for kind in _KINDS)}
"""  # noqa: S608 - SQL of ours


class TimeWindow(msgspec.Struct, frozen=True):
    """Window from `after` up to but without `before`, in µs, by the producers' clocks."""

    after: int
    before: int
    is_newest_first: bool


def events_page(
    reader: CatalogReader, settings: Settings, window: TimeWindow, page: PageRange
) -> Events:
    """Return a page of the run events in the lake.

    Raises:
        InvalidRequestError: the page lies too far behind the first event of the window.
        NotReadyError: the lake was compacted meanwhile.
    """
    if page.offset + page.limit > MOST_PLACES:
        message = f"offset: offset and limit: {MOST_PLACES:,} events at most: set after and before"
        raise InvalidRequestError(message)
    values = {"after": window.after, "before": window.before}
    total, reason = capped_total(reader.rows(count_up_to(_COUNT), values)[0][0], "events")
    lake = settings.lake
    if lake.is_local and not lake.folder.is_dir():
        return Events(events=[], total_count=total, partial=True, partial_reason=NO_LAKE)
    try:
        events, cut = read_again(
            lambda: _list_now(settings, window),
            lambda folders: _read_page(lake, _days(folders, window), window, page),
        )
    except LakeChangedError as error:
        raise NotReadyError(str(error)) from error
    reason = cut or reason or (_COUNT_CUT if total < page.offset + len(events) else None)
    return Events(
        events=events, total_count=total, partial=reason is not None, partial_reason=reason
    )


class _Day(msgspec.Struct, frozen=True):
    """Day of events, and the folders that have some of it."""

    date: str
    folders: list[Folder]


class _Place(msgspec.Struct, frozen=True, order=True):
    """Place of an event in the list: by its time, then by its number in the spool."""

    at: int
    seq: int


def _list_now(settings: Settings, window: TimeWindow) -> list[Folder]:
    """Return the folders of the window's days; the request's own reader sees what it saw before."""
    first, last = (from_micros(at).date().isoformat() for at in (window.after, window.before))
    with open_reader(settings.catalog) as reader:
        return list_folders(reader.rows, first, last)


def _days(folders: Sequence[Folder], window: TimeWindow) -> list[_Day]:
    """Return the days of these folders, in the order in which their events are listed."""
    found: dict[str, list[Folder]] = {}
    for folder in folders:
        found.setdefault(folder.event_date, []).append(folder)
    return [_Day(date, found[date]) for date in sorted(found, reverse=window.is_newest_first)]


def _read_page(
    lake: Lake, days: list[_Day], window: TimeWindow, page: PageRange
) -> tuple[list[dict[str, Any]], str | None]:
    """Return the events of a page, and the reason if some are left out."""
    passed, size = 0, 0
    events: list[dict[str, Any]] = []
    for day in days:
        places = _places(lake, day, window)
        begin = max(0, page.offset - passed)
        passed += len(places)
        for body in _bodies(lake, day, places[begin : begin + page.limit - len(events)]):
            size += len(body)
            if events and size > MOST_BYTES:
                return events, _BYTES_CUT
            events.append(_without_secrets(body))
        if len(events) == page.limit:
            break
    return events, None


def _without_secrets(body: bytes) -> dict[str, Any]:
    """Return an event; as everywhere else, `[redacted]` stands in place of passwords and keys."""
    return msgspec.json.decode(redact_json(body.decode()), type=dict[str, Any])


def _places(lake: Lake, day: _Day, window: TimeWindow) -> list[_Place]:
    """Return the places of a day's run events; no body is read."""
    import pyarrow as pa  # noqa: PLC0415 - `lineage.lake.reading` says why
    import pyarrow.compute as pc  # noqa: PLC0415 - as above
    import pyarrow.dataset as ds  # noqa: PLC0415 - as above

    at = pc.coalesce(ds.field("event_time"), ds.field("received_at"))
    at = at.cast(pa.timestamp("us", tz="UTC"), safe=False).cast(pa.int64())
    is_wanted = (ds.field("kind") == "run") & (at >= window.after) & (at < window.before)
    columns = {"at": at, "seq": ds.field("seq")}
    table = read_events(lake, day.folders).to_table(columns=columns, filter=is_wanted)
    pairs = zip(table["at"].to_pylist(), table["seq"].to_pylist(), strict=True)
    return sorted((_Place(*pair) for pair in pairs), reverse=window.is_newest_first)


def _bodies(lake: Lake, day: _Day, places: list[_Place]) -> Iterator[bytes]:
    """Return the bodies of these events of a day, in their order."""
    import pyarrow.dataset as ds  # noqa: PLC0415 - as above

    events, seq = read_events(lake, day.folders), ds.field("seq")
    # So many at once: the caller stops where their bytes are too many.
    for begin in range(0, len(places), _BODIES_AT_ONCE):
        numbers = [place.seq for place in places[begin : begin + _BODIES_AT_ONCE]]
        # The bounds keep other row groups from being read.
        is_wanted = (seq >= min(numbers)) & (seq <= max(numbers)) & seq.isin(numbers)
        table = events.to_table(columns=["seq", "body"], filter=is_wanted)
        bodies = dict(zip(table["seq"].to_pylist(), table["body"].to_pylist(), strict=True))
        yield from (bodies[number] for number in numbers if number in bodies)


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
        InvalidRequestError: there is no such time zone.
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
        raise InvalidRequestError(message) from error


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
