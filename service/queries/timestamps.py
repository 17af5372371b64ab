"""Timestamps as people and programs read and write them, and the age of the evaluation."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec

from lineage.catalog.meta_keys import EDGES_EVALUATED_AT
from lineage.catalog.reader import CatalogReader
from lineage.errors import InvalidRequestError
from lineage.process.clock import (
    SECOND_MICROS,
    TELLABLE,
    has_date,
    instant_text,
    is_tellable,
    naive_from_micros,
    to_micros,
)

_NEWEST = f"""
SELECT as_of, seconds, (SELECT value FROM meta WHERE name = '{EDGES_EVALUATED_AT}') AS edges_at
FROM evaluation ORDER BY as_of DESC LIMIT 1
"""  # noqa: S608 - a constant

MORNING_HOUR = 8


def iso(micros: int | None) -> str | None:
    """Return ISO 8601 in UTC, to the millisecond; null for null and for a time without a date."""
    return None if micros is None or not has_date(micros) else iso_of(micros)


def iso_of(micros: int) -> str:
    """Return ISO 8601 in UTC, to the millisecond."""
    return f"{naive_from_micros(micros).isoformat(timespec='milliseconds')}Z"


def seconds_between(start: int | None, end: int | None) -> float | None:
    """Return the seconds between two times; null if one is null, or time would run back."""
    if start is None or end is None or end < start:
        return None
    return (end - start) / SECOND_MICROS


def milliseconds_between(start: int | None, end: int | None) -> int | None:
    """Return the whole milliseconds between two times; null as `seconds_between`."""
    if start is None or end is None or end < start:
        return None
    return (end - start) // 1_000


def short_duration(seconds: float | None) -> str:
    """Format a duration in its two largest units (`2 h 5 min`), or a dash if unknown."""
    if seconds is None:
        return "-"
    if seconds < 60:  # noqa: PLR2004 - a minute
        # Some clients send START and COMPLETE at once: `1.4e-05 s` is for machines.
        return "< 1 ms" if 0 < seconds < 0.001 else f"{seconds:.3g} s"  # noqa: PLR2004 - a ms
    left, parts = int(seconds), []
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, left = divmod(left, length)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])


def parse_instant(text: str, place: str) -> int:
    """Parse a timestamp such as `2026-11-20T12:00:00Z` to microseconds.

    Args:
        text: as it was given.
        place: where, for an error.

    Raises:
        InvalidRequestError: it is none, has no time zone, or is of years that nobody means.
    """
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        expected = "expected a timestamp such as 2026-11-20T12:00:00Z"
        raise InvalidRequestError(f"{place}: {expected}, got {text[:80]!r}") from error
    if instant.tzinfo is None:
        advice = "has no time zone: add Z for UTC, or an offset such as +01:00"
        raise InvalidRequestError(f"{place}: {text[:80]!r} {advice}")
    if not is_tellable(instant):
        raise InvalidRequestError(f"{place}: {TELLABLE}, got {text[:80]!r}")
    return to_micros(instant)


def past_instant(text: str, now: datetime) -> int:
    """Parse a past timestamp to microseconds.

    Raises:
        InvalidRequestError: it is none, has no time zone, or is in the future.
    """
    instant = parse_instant(text, "at")
    if instant > to_micros(now):
        raise InvalidRequestError(f"at: {text[:80]!r} is in the future")
    return instant


class Evaluated(msgspec.Struct, frozen=True):
    """Last evaluation; its states are current only while it is not stale.

    `edges_at`: when edges were judged last, in their own turn.
    """

    as_of: int | None
    seconds: float | None
    stale: bool
    edges_at: str | None = None

    @property
    def at(self) -> str | None:
        """Return the time of the evaluation."""
        return iso(self.as_of)


def stale_warning(evaluated: Evaluated) -> str:
    """Return the warning to show with a stale evaluation."""
    if evaluated.as_of is None:
        return "no evaluation has run yet"
    at = instant_text(evaluated.as_of)
    return f"the last evaluation was at {at}: states that were good then are unknown now"


def last_evaluation(reader: CatalogReader, *, now: datetime, stale_seconds: float) -> Evaluated:
    """Return the newest evaluation; stale if missing or older than `stale_seconds`.

    One that is further ahead was made by a clock that was wrong: nobody knows how old it is.
    """
    rows = reader.rows(_NEWEST)
    if not rows:
        return Evaluated(as_of=None, seconds=None, stale=True)
    (row,) = rows
    stale = abs(to_micros(now) - row.as_of) > stale_seconds * SECOND_MICROS
    return Evaluated(as_of=row.as_of, seconds=row.seconds, stale=stale, edges_at=row.edges_at)


def parse_end(
    until: str | None, length: str | None, *, begin: datetime, place: str = ""
) -> int | None:
    """Parse an end, given as a timestamp or as a duration after `begin`; µs.

    Args:
        until: as `2026-11-22T08:00:00+01:00`.
        length: as `2h` or `1d 12h`.
        begin: when the length begins.
        place: put before the names of the two in an error: `--` of the command line.

    Returns:
        None where neither was given.

    Raises:
        InvalidRequestError: both were, or one is none.
    """
    if until is not None and length is not None:
        raise InvalidRequestError(f"{place}until, {place}for: give exactly one")
    if until is not None:
        return parse_instant(until, f"{place}until")
    if length is None:
        return None
    from lineage.policy.values import seconds_of  # noqa: PLC0415 - YAML only where it is needed

    try:
        return to_micros(begin + timedelta(seconds=seconds_of(length)))
    except ValueError as error:
        raise InvalidRequestError(f"{place}for: {error}") from error


def next_morning(now: datetime, time_zone: str) -> datetime:
    """Return the next eight o'clock in a time zone, in UTC: at 3:00 it is that of the same day."""
    local = now.astimezone(ZoneInfo(time_zone))
    day = local.date() + timedelta(days=local.hour >= MORNING_HOUR)
    morning = datetime(day.year, day.month, day.day, MORNING_HOUR, tzinfo=local.tzinfo)
    return morning.astimezone(UTC)
