"""Times as people give them: an instant with its zone, or a length from now."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from lineage.process.clock import to_micros
from service.errors import InvalidQuestionError
from service.queries.timestamps import instant_of

MORNING_HOUR = 8


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
        InvalidQuestionError: both were, or one is none.
    """
    if until is not None and length is not None:
        raise InvalidQuestionError(f"{place}until, {place}for: give exactly one")
    if until is not None:
        return instant_of(until, f"{place}until")
    if length is None:
        return None
    from lineage.policy.values import seconds_of  # noqa: PLC0415 - YAML only where it is needed

    try:
        return to_micros(begin + timedelta(seconds=seconds_of(length)))
    except ValueError as error:
        raise InvalidQuestionError(f"{place}for: {error}") from error


def tomorrow_morning(now: datetime, time_zone: str) -> datetime:
    """Tomorrow at eight by the clocks of a time zone; UTC."""
    tomorrow = now.astimezone(ZoneInfo(time_zone)).date() + timedelta(days=1)
    morning = datetime(tomorrow.year, tomorrow.month, tomorrow.day, MORNING_HOUR)  # noqa: DTZ001 - given its zone next
    return morning.replace(tzinfo=ZoneInfo(time_zone)).astimezone(UTC)
