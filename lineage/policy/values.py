"""Values that a field of the policy may hold, and durations as people write them."""

import re
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta

Text = Annotated[str, Meta(min_length=1)]
Minutes = Annotated[int, Meta(ge=0, le=10_080)]
Days = Annotated[int, Meta(ge=1, le=3_650)]
Instant = Annotated[datetime, Meta(tz=True)]
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(?:[0-9]+ *[smhdw] *)+", re.ASCII)
_PART = re.compile(r"([0-9]+) *([smhdw])", re.ASCII)
MAX_SECONDS = 366 * 86_400


def seconds_of(duration: str | int) -> int:
    """Return the seconds of "26h", "90m", "2d 6h", or of a number that is seconds already.

    Raises:
        ValueError: not a duration, or not between a second and a year.
    """
    seconds = duration if isinstance(duration, int) else _parsed(duration)
    if not 1 <= seconds <= MAX_SECONDS:
        message = f"{duration!r} is not between one second and one year"
        raise ValueError(message)
    return seconds


def _parsed(text: str) -> int:
    if not _DURATION.fullmatch(text):
        message = f'expected a duration such as "26h", "90m" or "2d 6h", got {text[:80]!r}'
        raise ValueError(message)
    return sum(int(count) * _SECONDS[unit] for count, unit in _PART.findall(text))
