"""Batches of keys to query, or of rows to write, in sizes that both databases accept."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

MOST = 500  # SQLite takes 32,766 parameters, of several sets of keys and all others together

Key = TypeVar("Key")


def split_batches(keys: Iterable[Key], most: int = MOST) -> Iterator[list[Key]]:
    """Yield all items in order, in batches of limited size; yield nothing for no items."""
    left = iter(keys)
    while piece := list(islice(left, most)):
        yield piece
