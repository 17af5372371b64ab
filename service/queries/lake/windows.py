"""Windows of time in which the lake is searched."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

import msgspec

from lineage.errors import InvalidRequestError
from lineage.names import run_ids
from lineage.process.clock import LAST_EVENT_MICROS, from_micros, to_micros
from service.queries.timestamps import parse_instant

MOST_DAYS: Final = 31
_DAY: Final = timedelta(days=1)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
# An id is made when its run starts, by a clock that may be another one than that of its events.
_BEFORE_ID, _BEHIND_ID = timedelta(hours=1), timedelta(hours=24)


class LakeSearchWindow(msgspec.Struct, frozen=True):
    """Window from `after` up to but without `before`, in µs, by the producers' clocks."""

    after: int
    before: int

    @property
    def days(self) -> list[str]:
        """Days that the window has a part of, as YYYY-MM-DD."""
        first, last = from_micros(self.after).date(), from_micros(self.before - 1).date()
        return [(first + n * _DAY).isoformat() for n in range((last - first).days + 1)]

    def widened(self, by: timedelta) -> "LakeSearchWindow":
        """Return the window with so much time more at both ends."""
        micros = by // timedelta(microseconds=1)
        return LakeSearchWindow(max(0, self.after - micros), self.before + micros)


def window_between(first: str, last: str) -> LakeSearchWindow:
    """Return the window from a day or an instant up to another, with the whole of the last day.

    Raises:
        InvalidRequestError: one of them is no day and no instant, or there are too many days.
    """
    window = LakeSearchWindow(_begin("from", first), _end(last))
    if window.after >= window.before:
        message = f"from, to: {first[:80]!r} is not before {last[:80]!r}"
        raise InvalidRequestError(message)
    if len(window.days) > MOST_DAYS:
        message = f"from, to: expected {MOST_DAYS} days at most, got {len(window.days)}"
        raise InvalidRequestError(message)
    return window


def window_of_run(run_id: str, first: str | None, last: str | None) -> LakeSearchWindow:
    """Return the window in which the events of a run are looked for.

    Raises:
        InvalidRequestError: one time alone was given, or none and the id holds no time.
    """
    if first is not None and last is not None:
        return window_between(first, last)
    if first is not None or last is not None:
        message = "from, to: expected both or neither"
        raise InvalidRequestError(message)
    made_at = time_of_id(run_id)
    if made_at is None:
        message = (
            f"run {run_id[:80]!r} has an id without a time in it (it is no UUID of version 7): give"
            " from and to, as days or timestamps between which the run was"
        )
        raise InvalidRequestError(message)
    return LakeSearchWindow(
        max(0, to_micros(made_at - _BEFORE_ID)), to_micros(made_at + _BEHIND_ID)
    )


def time_of_id(run_id: str) -> datetime | None:
    """Return when a UUID of version 7 was made; None for another id."""
    at = run_ids.made_at(run_id)
    if at is None or at > LAST_EVENT_MICROS:
        return None
    return from_micros(at)


def _begin(place: str, text: str) -> int:
    day = _day(place, text)
    return parse_instant(text, place) if day is None else to_micros(day)


def _end(text: str) -> int:
    day = _day("to", text)
    return parse_instant(text, "to") if day is None else to_micros(day + _DAY)


def _day(place: str, text: str) -> datetime | None:
    if not _DATE.fullmatch(text):
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        message = f"{place}: {text!r} is no day of the calendar"
        raise InvalidRequestError(message) from error
    parse_instant(f"{text}T00:00:00Z", place)
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
