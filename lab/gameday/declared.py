"""Declarations in an estate's policy: tiers of datasets, and limits of some."""

import random
from collections.abc import Iterator, Sequence

import msgspec

from lab.gameday.model import Estate, SimulatedDataset
from lineage.states import CRITICAL, IMPORTANT, Tier


def with_tiers(estate: Estate, chance: random.Random) -> Estate:
    """Declare a few datasets critical, with their upstream; of the others some important."""
    deep = [each.number for each in _scheduled(estate.datasets) if each.layer >= 3]  # noqa: PLR2004
    wanted = max(2, round(0.03 * len(estate.datasets)))
    declared: dict[int, Tier] = dict.fromkeys(_some(chance, deep, wanted), CRITICAL)
    held = _declared(estate, declared).tiers
    rest = [each.number for each in _scheduled(estate.datasets) if held[each.number] != CRITICAL]
    declared |= dict.fromkeys(_some(chance, rest, round(0.2 * len(rest))), IMPORTANT)
    return _declared(estate, declared)


def with_limits(estate: Estate, chance: random.Random, *, all_of_them: bool) -> Estate:
    """Declare limits of some critical datasets; the others' are learned."""
    limits = {"daily": "27h", "weekday": "27h", "hourly": "90m", "quarter": "35m"}
    datasets = [
        msgspec.structs.replace(each, limit=limits.get(each.cadence))
        if all_of_them or (each.declared == CRITICAL and chance.random() < 0.4)  # noqa: PLR2004
        else each
        for each in estate.datasets
    ]
    return msgspec.structs.replace(estate, datasets=tuple(datasets))


def _scheduled(datasets: Sequence[SimulatedDataset]) -> Iterator[SimulatedDataset]:
    return (each for each in datasets if each.cadence != "adhoc")


def _some(chance: random.Random, numbers: Sequence[int], count: int) -> list[int]:
    return chance.sample(numbers, min(count, len(numbers)))


def _declared(estate: Estate, tiers: dict[int, Tier]) -> Estate:
    datasets = [
        msgspec.structs.replace(each, declared=tiers.get(each.number)) for each in estate.datasets
    ]
    return msgspec.structs.replace(estate, datasets=tuple(datasets))
