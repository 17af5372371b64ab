"""The one clock that every role reads, so that tests and game days run on simulated time."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
TELLABLE = "expected an instant of the years 1970 to 2999"
_BEYOND = datetime(3000, 1, 1, tzinfo=UTC)


def system_clock() -> datetime:
    """Now, in UTC, by the machine."""
    return datetime.now(UTC)


def to_micros(instant: datetime) -> int:
    """Microseconds since 1970 UTC: how the spool and the catalog keep every instant.

    Whole-number arithmetic: a float of seconds loses microseconds from 2004 on.

    Raises:
        ValueError: the instant has no time zone.
    """
    if instant.tzinfo is None:
        message = f"instant without a time zone: {instant.isoformat()}"
        raise ValueError(message)
    return (instant - EPOCH) // MICROSECOND


def from_micros(micros: int) -> datetime:
    """The instant that `to_micros` gave this number for."""
    return EPOCH + micros * MICROSECOND


def is_tellable(instant: datetime) -> bool:
    """Whether it is of the years that somebody can mean.

    The first and the last instant that can be written have no date in UTC, nor has the last any
    time after it.
    """
    return EPOCH <= instant < _BEYOND


def instant_text(micros: int) -> str:
    """`2026-11-21 09:00:00 UTC`: how every sentence of ours tells an instant."""
    return f"{from_micros(micros):%Y-%m-%d %H:%M:%S} UTC"
