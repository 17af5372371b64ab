"""Tiers handed up the lineage: what a critical dataset is made of is critical too."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from lineage.states import OPTIONAL, TIERS, Tier, TierOrigin

# An edge seen less often may be somebody's one look into a table. Triggers of migration 0021 note
# edges that cross this number: another number needs another migration.
MIN_RUNS: Final = 3


class Tiering(msgspec.Struct, frozen=True):
    """Tier of a dataset, its origin, and the dataset that it was inherited from."""

    tier: Tier
    origin: TierOrigin
    inherited_from: int | None = None


_DEFAULT = Tiering(OPTIONAL, "default")


def tier_edges(
    seen: Iterable[tuple[int, int, int]], declared: Iterable[tuple[int, int]] = ()
) -> set[tuple[int, int]]:
    """Return the edges that decide tiers: declared ones, and those seen in `MIN_RUNS` runs or more.

    Args:
        seen: (upstream key, downstream key, runs), one for each job that has the edge.
        declared: (upstream key, downstream key), by `expect_inputs` of the policy.
    """
    runs: Counter[tuple[int, int]] = Counter()
    for upstream, downstream, count in seen:
        runs[upstream, downstream] += count
    return {edge for edge, count in runs.items() if count >= MIN_RUNS} | set(declared)


def inherit(
    datasets: Iterable[int], declared: Mapping[int, Tier], edges: Iterable[tuple[int, int]]
) -> dict[int, Tiering]:
    """Return the tier of each dataset: its own if declared, else the highest of its downstream.

    A declared tier stands, and is what the datasets above inherit by that way: one declared
    optional hands no higher tier up. Of several origins of one tier the nearest is named, then the
    one with the smaller key. Cycles are fine. Linear in datasets and edges.
    """
    upstreams = _upstreams(edges)
    tiers = {key: Tiering(tier, "declared") for key, tier in declared.items()}
    for tier in TIERS:
        sources = sorted(key for key, own in declared.items() if own == tier)
        _hand_up(tier, sources, upstreams, tiers)
    return {key: tiers.get(key, _DEFAULT) for key in datasets}


def _hand_up(
    tier: Tier,
    sources: Sequence[int],
    upstreams: Mapping[int, list[int]],
    tiers: dict[int, Tiering],
) -> None:
    """Breadth first from the declared ones, so that the nearest is reached first."""
    waiting = deque((key, Tiering(tier, "inherited", key)) for key in sources)
    while waiting:
        key, inherited = waiting.popleft()
        for upstream in upstreams.get(key, ()):
            if upstream not in tiers:
                tiers[upstream] = inherited
                waiting.append((upstream, inherited))


def _upstreams(edges: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    upstreams: dict[int, list[int]] = {}
    for upstream, downstream in edges:
        upstreams.setdefault(downstream, []).append(upstream)
    return upstreams
