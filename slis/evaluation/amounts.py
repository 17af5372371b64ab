"""Good, total and unknown, added up under whatever they are counted by."""

from collections.abc import Mapping
from typing import Any, TypeVar

Amount = tuple[float, float, float]  # good, total, unknown
NAMES = ("good", "total", "unknown")
_Key = TypeVar("_Key")


def amounts_of(row: Mapping[str, Any], weight: float = 1.0) -> Amount:
    """Return the amount of a tally or count, times `weight`."""
    return row["good"] * weight, row["total"] * weight, row["unknown"] * weight


def add_amounts(amounts: dict[_Key, Amount], key: _Key, more: Amount) -> None:
    """Add to what the key has."""
    held = amounts.get(key, (0.0, 0.0, 0.0))
    amounts[key] = (held[0] + more[0], held[1] + more[1], held[2] + more[2])
