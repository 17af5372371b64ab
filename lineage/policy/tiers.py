"""Tiers handed up the lineage: what a critical dataset is made of is critical too."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

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
    tiers = hand_up(declared, edges)
    return {key: tiering_of(tiers.get(key)) for key in datasets}


class HandedTier(NamedTuple):
    """Tier as it is handed up; of several, a dataset inherits the least."""

    rank: int  # in TIERS
    hops: int  # from its origin; 0: declared
    origin: int  # dataset that it is declared of


HandedTiers = dict[int, HandedTier]


def tiering_of(handed: HandedTier | None) -> Tiering:
    """Return the tier of a dataset to which this one was handed up; None: none was."""
    if handed is None:
        return _DEFAULT
    tier = TIERS[handed.rank]
    return Tiering(tier, "inherited", handed.origin) if handed.hops else Tiering(tier, "declared")


def hand_up(declared: Mapping[int, Tier], edges: Iterable[tuple[int, int]]) -> HandedTiers:
    """Return the tier of each dataset that has or inherits one, as `inherit` does."""
    upstreams = _upstreams(edges)
    tiers = {key: HandedTier(TIERS.index(tier), 0, key) for key, tier in declared.items()}
    for rank in range(len(TIERS)):
        _hand_up(sorted(tier for tier in tiers.values() if tier.rank == rank), upstreams, tiers)
    return tiers


def _hand_up(
    sources: Sequence[HandedTier], upstreams: Mapping[int, list[int]], tiers: HandedTiers
) -> None:
    """Walk breadth first from the declared ones, so that the nearest is reached first."""
    waiting = deque((one.origin, one) for one in sources)
    while waiting:
        key, own = waiting.popleft()
        handed = own._replace(hops=own.hops + 1)
        for upstream in upstreams.get(key, ()):
            if upstream not in tiers:
                tiers[upstream] = handed
                waiting.append((upstream, handed))


def hand_up_new(
    tiers: HandedTiers,
    new_edges: Iterable[tuple[int, int]],
    upstreams_of: Callable[[int], Iterable[int]],
) -> set[int]:
    """Bring `tiers` up to date after edges came, and return the datasets that they changed.

    Args:
        tiers: what `hand_up` returned for the edges before.
        new_edges: (upstream, downstream) of each edge that came.
        upstreams_of: upstreams of a dataset, with the new ones.
    """
    changed = set[int]()
    waiting = deque(new_edges)
    while waiting:
        upstream, downstream = waiting.popleft()
        if (own := tiers.get(downstream)) is None:
            continue
        handed, known = own._replace(hops=own.hops + 1), tiers.get(upstream)
        if known is None or (known.hops and handed < known):
            tiers[upstream] = handed
            changed.add(upstream)
            waiting.extend((further, upstream) for further in upstreams_of(upstream))
    return changed


def _upstreams(edges: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    upstreams: dict[int, list[int]] = {}
    for upstream, downstream in edges:
        upstreams.setdefault(downstream, []).append(upstream)
    return upstreams
