"""Least and greatest of values that may be missing."""

from typing import NamedTuple


class Span(NamedTuple):
    """First and last time at which something was seen, in microseconds since 1970."""

    first: int
    last: int

    def at(self, time: int) -> "Span":
        """Return the span with a time more."""
        return Span(min(self.first, time), max(self.last, time))


def least(one: int | None, other: int | None) -> int | None:
    """Return the lesser of the values that are given."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def greatest(one: int | None, other: int | None) -> int | None:
    """Return the greater of the values that are given."""
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)
