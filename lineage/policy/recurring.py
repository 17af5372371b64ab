"""Windows that come again, by cron: when one is, by the clocks of its time zone.

A window begins when cron says, on the day that the clocks are changed as Debian's cron has it:
what the spring leaves out begins right after, what the autumn repeats begins once. It then lasts
its length by the second hand, whatever the clocks do meanwhile.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import msgspec
from cronsim import CronSim, CronSimError

_Span = tuple[datetime, datetime]  # from, and until before; UTC

LONGEST = timedelta(days=30)
_FIELDS = 5
_EXAMPLE = 'such as "0 2 * * sun": minute, hour, day of month, month, day of week'
_LONGEST_TEXT = 100
_ANY_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
_YEAR = timedelta(days=366)
_RARE = 5 * _YEAR
_MOST_STARTS = 10_000
# More than any clock is changed by: what is read too early is left out again.
_CHANGE = timedelta(hours=3)


class Recurring(msgspec.Struct, frozen=True):
    """Schedule of a window that recurs, and its length.

    Attributes:
        cron: five fields.
        length: of each window.
        time_zone: whose clocks cron goes by.
    """

    cron: str
    length: timedelta
    time_zone: str

    def window_at(self, at: datetime) -> _Span | None:
        """Return the window that contains a timestamp; of several the last one."""
        found = None
        for start in self.starts(at - self.length - _CHANGE):
            if start > at:
                break
            if at < start + self.length:
                found = (start, start + self.length)
        return found

    def next_window(self, after: datetime) -> _Span | None:
        """Return the first window that begins after a timestamp; None within fifty years."""
        starts = self.starts(after - _CHANGE)
        start = next((one for one in starts if one > after), None)
        return None if start is None else (start, start + self.length)

    def starts(self, after: datetime) -> Iterator[datetime]:
        """Yield when windows begin, in order, from about a timestamp on; UTC."""
        for local in CronSim(self.cron, after.astimezone(ZoneInfo(self.time_zone))):
            yield local.astimezone(UTC)


@lru_cache(maxsize=256)
def window_problem(window: Recurring) -> str | None:
    """Return why these windows are invalid, or None. Their time zone must be known."""
    if len(window.cron.split()) != _FIELDS or len(window.cron) > _LONGEST_TEXT:
        return f"expected five fields {_EXAMPLE}; got {window.cron[:80]!r}"
    try:
        first = window.next_window(_ANY_YEAR)
    except CronSimError as error:
        what = str(error)
        return f"{what[:1].lower()}{what[1:]} in {window.cron!r}: expected five fields {_EXAMPLE}"
    if first is None or first[0] > _ANY_YEAR + _RARE:
        return f"{window.cron!r} comes in none of the next five years"
    if _hides_for_ever(window):
        return f"{window.cron!r} hides without a break: each begins before the last one ended"
    return None


def _hides_for_ever(window: Recurring) -> bool:
    """Return whether windows that touch hide for longer than the longest, or than was tried."""
    begun = end = first = None
    for count, start in enumerate(window.starts(_ANY_YEAR)):
        if start > _ANY_YEAR + _YEAR:
            return False
        if count > _MOST_STARTS:
            return begun == first
        if end is None or begun is None or start > end:
            begun = start
        first = first or start
        end = start + window.length
        if end - begun > LONGEST:
            return True
    return False
