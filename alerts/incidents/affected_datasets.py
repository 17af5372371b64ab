"""Who is affected by a fault, in short: as arrays, of which only what is shown becomes objects."""

from collections.abc import Mapping
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from alerts.detection.snapshot_loader import NO_OWNER, Owners
from alerts.notify.message import MAX_LISTED
from alerts.root_cause.severity import Impact
from lineage.adjacency import Keys
from lineage.states import TIERS

Tiers = tuple[tuple[str, int], ...]


class OwnedDatasets(msgspec.Struct, frozen=True):
    """What one owner has of it.

    Attributes:
        keys: the gravest, as many as a message lists.
        count: of all.
        tiers: how many are of each tier, the highest first.
        bad: those that are bad by the fault.
    """

    keys: list[int]
    count: int
    tiers: Tiers
    bad: frozenset[int]


class AffectedDatasets(msgspec.Struct, frozen=True, eq=False):
    """The datasets downstream of a root, the gravest first: by tier, then hops, then key.

    Attributes:
        keys: of the datasets; as many as the list keeps.
        hops: of each, from the root.
        count: of all, also of those that the list does not keep.
        first: the gravest, as many as a message lists.
        tiers: how many are of each tier, the highest first.
        by_owner: what each owner has.
    """

    keys: Keys
    hops: NDArray[np.int32]
    count: int
    first: list[int]
    tiers: Tiers
    by_owner: Mapping[str, OwnedDatasets]


_NONE: Final = AffectedDatasets(
    np.empty(0, np.int64), np.empty(0, np.int32), count=0, first=[], tiers=(), by_owner={}
)


def summarize_impact(
    hurt: Impact | None, owners: Owners | None, bad: frozenset[int], most: int
) -> AffectedDatasets:
    """Return an impact in short.

    Args:
        hurt: the impact; none: of a part of the service itself.
        owners: of the datasets.
        bad: those that are bad by the fault.
        most: so many are kept in the list.
    """
    if hurt is None or owners is None:
        return _NONE
    # By hops, then key, they stand already: a stable sort by tier is enough.
    order = np.argsort(hurt.tiers, kind="stable")
    keys, tiers = hurt.keys[order], hurt.tiers[order]
    return AffectedDatasets(
        keys[:most].copy(),
        hurt.hops[order][:most].copy(),
        count=len(keys),
        first=keys[:MAX_LISTED].tolist(),
        tiers=_count_tiers(tiers),
        by_owner=_group_by_owner(keys, tiers, owners, bad),
    )


def _group_by_owner(
    keys: Keys, tiers: NDArray[np.int8], owners: Owners, bad: frozenset[int]
) -> dict[str, OwnedDatasets]:
    codes = owners.of(keys)
    is_bad = np.isin(keys, np.fromiter(bad, np.int64, len(bad)))
    order = np.argsort(codes, kind="stable")
    ends = np.flatnonzero(np.diff(codes[order])) + 1
    groups = (mine for mine in np.split(order, ends) if len(mine))
    return {
        owners.names[codes[mine[0]]]: OwnedDatasets(
            keys[mine[:MAX_LISTED]].tolist(),
            len(mine),
            _count_tiers(tiers[mine]),
            frozenset(keys[mine[is_bad[mine]]].tolist()),
        )
        for mine in groups
        if codes[mine[0]] != NO_OWNER
    }


def _count_tiers(tiers: NDArray[np.int8]) -> Tiers:
    counts = np.bincount(tiers, minlength=len(TIERS)).tolist()
    return tuple((tier, count) for tier, count in zip(TIERS, counts, strict=True) if count)
