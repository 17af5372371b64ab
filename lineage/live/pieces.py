"""A table of the catalog a piece after the other: a large estate is never there all as texts."""

from collections.abc import Iterator
from typing import Any, Final

from lineage.catalog.reader import Reader

_PIECES: Final = 16


def in_pieces(reader: Reader, sql: str, width: int) -> Iterator[list[list[Any]]]:
    """The `width` columns that `sql` gives of the keys from `:low` to `:high`, of all keys."""
    step = 2**64 // _PIECES
    for low in range(-(2**63), 2**63, step):
        yield reader.columns(sql, width, {"low": low, "high": low + step - 1})
