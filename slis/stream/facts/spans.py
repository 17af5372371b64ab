"""First and last times, and the lesser and the greater of values that may be missing."""

from typing import NamedTuple


class SeenTimes(NamedTuple):
    """First and last time at which something was seen, in microseconds since 1970."""

    first: int
    last: int

    def __or__(self, other: "SeenTimes") -> "SeenTimes":
        """Return the first and the last time of both."""
        return SeenTimes(min(self.first, other.first), max(self.last, other.last))


def lesser(one: int | None, other: int | None) -> int | None:
    """Return the lesser of the values that are given."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def greater(one: int | None, other: int | None) -> int | None:
    """Return the greater of the values that are given."""
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)
