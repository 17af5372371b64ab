"""Many keys of a question, or rows to write, in pieces that both databases take."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

MOST = 500  # SQLite takes 32,766 parameters, of several sets of keys and all others together

Key = TypeVar("Key")


def pieces(keys: Iterable[Key], most: int = MOST) -> Iterator[list[Key]]:
    """All of them in their order, so many at a time; nothing of nothing."""
    left = iter(keys)
    while piece := list(islice(left, most)):
        yield piece
