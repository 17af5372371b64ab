"""Counts of datasets by SLI and tier, kept from one evaluation to the next by arithmetic."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from lineage.states import BAD, COVERAGE, FRESHNESS, GOOD, LEARNING, UNKNOWN
from slis.evaluation.dataset_states import FrameRow

_PLACES = ("good", "total", "unknown", "learning", "excepted")
_COUNTED = {
    GOOD: (1, 1, 0, 0, 0),
    BAD: (0, 1, 0, 0, 0),
    UNKNOWN: (0, 0, 1, 0, 0),
    LEARNING: (0, 0, 0, 1, 0),
}
_EXCEPTED = (0, 0, 0, 0, 1)
Labels = tuple[str, str, str]  # SLI, tier, origin of the tier
Tallies = dict[Labels, tuple[int, ...]]


def change_tallies(
    tallies: Tallies, gone: Iterable[Mapping[str, Any]], new: Iterable[Mapping[str, Any]]
) -> Tallies:
    """Return the tallies after rows of `dataset_judgement` were replaced by others."""
    changed = dict(tallies)
    for sign, rows in ((-1, gone), (1, new)):
        for row in rows:
            _count(changed, row, sign)
    return changed


def _count(tallies: Tallies, row: Mapping[str, Any], sign: int) -> None:
    """Add a dataset to the tallies, or take it away."""
    for sli, state in ((COVERAGE.id, row["coverage"]), (FRESHNESS.id, row["freshness"])):
        if state is not None:
            _add(tallies, (sli, row["tier"], row["tier_origin"]), sign, _COUNTED[state])
    if row["is_source"]:
        _add(tallies, (COVERAGE.id, row["tier"], row["tier_origin"]), sign, _EXCEPTED)


def _add(tallies: Tallies, labels: Labels, sign: int, counts: tuple[int, ...]) -> None:
    held = tallies.pop(labels, (0,) * len(_PLACES))
    now = tuple(before + sign * more for before, more in zip(held, counts, strict=True))
    if any(now):
        tallies[labels] = now


def tallies_of(rows: Iterable[FrameRow]) -> Tallies:
    """Return rows of `sli_schemas.TALLIES` of one instant as tallies."""
    return {
        (row["sli"], row["tier"], row["tier_origin"]): tuple(row[place] for place in _PLACES)
        for row in rows
    }


def tally_rows(tallies: Tallies, as_of: datetime) -> list[FrameRow]:
    """Return tallies as rows of `sli_schemas.TALLIES`."""
    names = ("sli", "tier", "tier_origin", *_PLACES)
    return [
        {"as_of": as_of, **dict(zip(names, (*labels, *counts), strict=True))}
        for labels, counts in sorted(tallies.items())
    ]
