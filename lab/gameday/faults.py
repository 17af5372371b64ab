"""Faults of an estate, and the truth of each: root, owner, impact and time."""

import random
from collections.abc import Sequence
from typing import Final

import msgspec

from lab.gameday.fault_truth import standing_gaps, truth_of, windows
from lab.gameday.injected import Injected
from lab.gameday.model import DAY, Estate
from lab.gameday.planning import NoJobFreeError, Planning
from lab.gameday.slots import begins_at
from lab.gameday.truth_shapes import INJECTED_KINDS, InjectedKind, Truth
from lineage.policy.model import Suppression

_RARE: Final[tuple[InjectedKind, ...]] = ("collector_outage", "holiday")


class Day(msgspec.Struct, frozen=True):
    """Planned game day: its faults, their truth, and the windows in the policy."""

    injected: tuple[Injected, ...]
    truth: Truth
    suppressions: tuple[Suppression, ...]


def plan_faults(estate: Estate, count: int, kinds: Sequence[InjectedKind] = INJECTED_KINDS) -> Day:
    """Plan that many faults of these kinds, from the seed of the estate.

    Raises:
        ValueError: the estate is too small, or its time too short, for a kind that was asked for.
    """
    planning = _planned(estate, count, kinds)
    faults = tuple(truth_of(estate, each) for each in planning.found)
    begins = begins_at(estate)
    truth = Truth(
        seed=estate.seed,
        datasets=len(estate.datasets),
        days=estate.days,
        starts_at=begins,
        judged_from=begins + planning.teaching * DAY,
        ends_at=begins + estate.days * DAY,
        faults=faults,
        standing=tuple(sorted(standing_gaps(estate))),
    )
    return Day(planning.found, truth, tuple(windows(estate, planning.found)))


def _in_turn(
    chance: random.Random, count: int, kinds: Sequence[InjectedKind]
) -> list[InjectedKind]:
    """Return kinds in equal number, but first and few of those that need the whole estate.

    So are upgrades, which need many jobs at once that nothing else affects.
    """
    few: list[InjectedKind] = [kind for kind in _RARE if kind in kinds]
    many = [kind for kind in kinds if kind not in few] or few
    rest = [many[at % len(many)] for at in range(max(0, count - len(few)))]
    chance.shuffle(rest)
    rest.sort(key=lambda kind: kind != "spark_upgrade")
    return [*few, *rest][:count]


def _planned(
    estate: Estate, count: int, kinds: Sequence[InjectedKind], first: tuple[InjectedKind, ...] = ()
) -> Planning:
    """Plan all kinds; try again with a kind first if others have taken its few jobs."""
    planning = Planning(estate)
    in_turn = _in_turn(planning.chance, count, kinds)
    for kind in sorted(in_turn, key=lambda kind: kind not in (*_RARE, *first)):
        try:
            planning.add(kind)
        except NoJobFreeError:
            if kind in first:
                raise
            return _planned(estate, count, kinds, (*first, kind))
    return planning
