"""Instants as people give them to an action."""

from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta

from lineage.process.clock import TELLABLE, is_tellable
from runbooks.actions.errors import InvalidActionError

Instant = Annotated[datetime, Meta(tz=True)]


def in_utc(instant: datetime, place: str) -> datetime:
    """Return the same instant in UTC, by whose days the lake is kept.

    Args:
        instant: in any zone.
        place: what it was given as, for an error.

    Raises:
        InvalidActionError: it is of years that nobody means.
    """
    if not is_tellable(instant):
        raise InvalidActionError(f"{place}: {TELLABLE}, got {instant.isoformat()}")
    return instant.astimezone(UTC)
