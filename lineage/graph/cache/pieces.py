"""Batches of a catalog table: a large estate is never in memory as texts all at once."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lineage.catalog.reader import CatalogReader
from lineage.graph.adjacency import Keys

_PIECES: Final = 16


def numbers_by_key(
    reader: CatalogReader, sql: str, width: int, numbered: Callable[..., NDArray[Any]]
) -> tuple[Keys, NDArray[Any]]:
    """Read the ascending keys, and a number for each.

    Args:
        reader: of the catalog.
        sql: gives `width` columns of the keys from `:low` to `:high`, which are the first one.
        width: how many.
        numbered: makes numbers of the other columns of a piece.
    """
    step = 2**64 // _PIECES
    parts: list[tuple[Keys, NDArray[Any]]] = []
    for low in range(-(2**63), 2**63, step):
        piece, *others = reader.columns(sql, width, {"low": low, "high": low + step - 1})
        parts.append((np.array(piece, np.int64), numbered(*others)))
    keys, numbers = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.argsort(keys)
    return keys[order], numbers[order]
