"""Clock that each role reads, so that tests and game days run on simulated time; forms of times."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

Clock = Callable[[], datetime]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH = EPOCH.replace(tzinfo=None)
MICROSECOND = timedelta(microseconds=1)
# Lengths in the unit of every stored time.
SECOND_MICROS: Final = 1_000_000
HOUR_MICROS: Final = 3_600 * SECOND_MICROS
DAY_MICROS: Final = 24 * HOUR_MICROS
TELLABLE = "expected a time of the years 1970 to 2999"
_BEYOND = datetime(3000, 1, 1, tzinfo=UTC)
EVENT_TIMES = "expected a time of the years 1970 to 2199"
_EVENTS_END = datetime(2200, 1, 1, tzinfo=UTC)
# A day within what `datetime` can hold: any time zone, and a day more or less, still has a date.
_EARLIEST = datetime(1, 1, 2, tzinfo=UTC)
_LATEST = datetime(9999, 12, 30, tzinfo=UTC)

# A zone's name alone would name two instants in the hour that clocks repeat.
_JAVA = re.compile(
    r"(?P<minute>\d{4}-\d\d-\d\dT\d\d:\d\d)(?P<seconds>:\d\d(\.\d+)?)?"
    r"((?P<offset>Z|[+-]\d\d:?\d\d)(\[[\w+/-]+\])?)?",
    re.ASCII | re.IGNORECASE,
)


def system_clock() -> datetime:
    """Return the machine's time, in UTC."""
    return datetime.now(UTC)


def to_micros(instant: datetime) -> int:
    """Return microseconds since 1970 UTC: the form of every time in the spool and the catalog.

    Whole-number arithmetic: a float of seconds loses microseconds from 2004 on.

    Raises:
        ValueError: the instant has no time zone.
    """
    if instant.tzinfo is None:
        message = f"instant without a time zone: {instant.isoformat()}"
        raise ValueError(message)
    return (instant - EPOCH) // MICROSECOND


EARLIEST_MICROS = to_micros(_EARLIEST)
LATEST_MICROS = to_micros(_LATEST)
LAST_EVENT_MICROS = to_micros(_EVENTS_END) - 1


def from_micros(micros: int) -> datetime:
    """Return the instant that `to_micros` gave this number for.

    A number beyond the years that Python can hold gives the nearest day that every time zone has:
    old catalogs have such numbers, and no reader may fail on one.
    """
    return EPOCH + min(max(micros, EARLIEST_MICROS), LATEST_MICROS) * MICROSECOND


def naive_from_micros(micros: int) -> datetime:
    """Return as `from_micros`, in UTC without saying so: formatting takes a third less time."""
    return _NAIVE_EPOCH + min(max(micros, EARLIEST_MICROS), LATEST_MICROS) * MICROSECOND


def has_date(micros: int) -> bool:
    """Return whether `from_micros` returns the very instant, not the nearest one."""
    return EARLIEST_MICROS <= micros <= LATEST_MICROS


def is_event_time(instant: datetime) -> bool:
    """Return whether an event may give this time; without a time zone it is read as UTC."""
    aware = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    return EPOCH <= aware < _EVENTS_END


def is_tellable(instant: datetime) -> bool:
    """Return whether the time is of the years that somebody can mean.

    The first and the last instant that can be written have no date in UTC, nor has the last any
    time after it.
    """
    return EPOCH <= instant < _BEYOND


def instant_text(micros: int) -> str:
    """Format a timestamp as in every sentence: `2026-11-21 09:00:00 UTC`."""
    return f"{from_micros(micros):%Y-%m-%d %H:%M:%S} UTC"


def normalize_java_time(text: str) -> str:
    """Return the time with seconds and without the name of its zone, or other text unchanged."""
    found = _JAVA.fullmatch(text)
    if found is None:
        return text
    return f"{found['minute']}{found['seconds'] or ':00'}{found['offset'] or ''}"
