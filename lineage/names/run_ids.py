"""Times in run ids: a UUID of version 7 begins with the milliseconds at which it was made."""

import re
from typing import Final

from lineage.process.clock import DAY_MICROS

_MICROS: Final = 1_000  # of a millisecond
_VERSION: Final = slice(14, 15)
_WITH_TIME: Final = re.compile(
    "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII
)


def made_at(run_id: str) -> int | None:
    """Return when a UUID of version 7 was made, in microseconds since 1970; None for another id."""
    # Most other ids are UUIDs of another version, and need no search.
    if run_id[_VERSION] != "7" or _WITH_TIME.fullmatch(run_id) is None:
        return None
    return int(run_id[:8] + run_id[9:13], 16) * _MICROS


def day_of(run_id: str | None) -> int:
    """Return the start of the UTC day in a run id, in microseconds; 0 for an id without a time.

    It is a function of the id alone: events of a run give the same day in any order.
    """
    at = made_at(run_id) if run_id else None
    return 0 if at is None else at // DAY_MICROS * DAY_MICROS
