"""Times that events give as text, within the years that an event may be of."""

import re
from datetime import date, datetime
from typing import Final

from lineage.process.clock import HOUR_MICROS, LAST_EVENT_MICROS, SECOND_MICROS, to_micros

# What nearly all clients send. Python reads it in C, and any other form takes three times as long.
_USUAL: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|\+00:00)", re.ASCII)
_TIME: Final = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
    r"(?:[T ](?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.(?P<part>\d*))?)?"
    r"(?: ?(?=[ZUG+-])(?:Z|(?:UTC|GMT|UT)?"
    r"(?:(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d\d)(?::(?P<seconds>\d\d))?)?)?)"
    r"(?:\[[\w+/-]+\])?)?)?",
    re.ASCII | re.IGNORECASE,
)
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_DIGITS: Final = 6  # of a second


def parse_time(text: str | None) -> int | None:
    """Return the time that a text gives, in microseconds since 1970.

    1 to 9 fraction digits (cut to microseconds), `Z` and offsets, the zone's name in brackets
    behind these; without a zone it is UTC, as Marquez reads it too. Seconds, or the time of day,
    may be missing.

    Returns:
        None where the text is no time, or one outside the years that an event may give.
    """
    if not text:
        return None
    micros = _read_usual(text) if _USUAL.fullmatch(text) else _read_any(text)
    return micros if micros is not None and 0 <= micros <= LAST_EVENT_MICROS else None


def start_of_hour(micros: int) -> int:
    """Return the start of the hour, in UTC."""
    return micros - micros % HOUR_MICROS


def _read_usual(text: str) -> int | None:
    try:
        return to_micros(datetime.fromisoformat(text))
    except ValueError:
        return None


def _read_any(text: str) -> int | None:
    found = _TIME.fullmatch(text.strip())
    seconds = _seconds(found) if found else None
    if found is None or seconds is None:
        return None
    return seconds * SECOND_MICROS + int((found["part"] or "")[:_DIGITS].ljust(_DIGITS, "0"))


def _seconds(found: re.Match[str]) -> int | None:
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    if hour > 23 or minute > 59 or second > 59:  # noqa: PLR2004 - a day's
        return None
    try:
        day = date(*(int(found[name]) for name in ("year", "month", "day")))
    except ValueError:
        return None
    offset = _offset(found)
    if offset is None:
        return None
    days = day.toordinal() - _EPOCH_DAY
    return days * 86_400 + hour * 3_600 + minute * 60 + second - offset


def _offset(found: re.Match[str]) -> int | None:
    """Return the seconds that the zone is ahead of UTC; None where no zone is."""
    hours, minutes, seconds = (int(found[name] or 0) for name in ("hours", "minutes", "seconds"))
    offset = hours * 3_600 + minutes * 60 + seconds
    if minutes > 59 or seconds > 59 or offset > 18 * 3_600:  # noqa: PLR2004 - as Java has it
        return None
    return -offset if found["sign"] == "-" else offset
