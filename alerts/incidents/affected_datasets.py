"""Impact of a fault, as arrays, of which only what is shown becomes objects."""

from collections.abc import Mapping
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from alerts.root_cause.severity import RootImpact
from lineage.graph.adjacency import Keys, positions_in
from lineage.states import TIERS

NO_OWNER: Final = -1
MAX_LISTED: Final = 10  # datasets that a message names

Tiers = tuple[tuple[str, int], ...]


class OwnerNumbers(msgspec.Struct, frozen=True, eq=False):
    """Owner of each dataset as a number: a hundredth of the memory of the names.

    Attributes:
        keys: of the datasets, ascending.
        codes: of each dataset, the position of its owner in `names`, or `NO_OWNER`.
        names: of all owners.
    """

    keys: Keys
    codes: NDArray[np.int32]
    names: tuple[str, ...]

    def codes_of(self, keys: Keys) -> NDArray[np.int32]:
        """Return the code of each dataset's owner."""
        positions, is_known = positions_in(self.keys, keys)
        codes = np.full(len(keys), NO_OWNER, dtype=np.int32)
        codes[is_known] = self.codes[positions]
        return codes


class OwnedDatasets(msgspec.Struct, frozen=True):
    """Affected datasets of one owner.

    Attributes:
        keys: the most severe, as many as a message lists.
        count: of all.
        tiers: number of datasets of each tier, the highest tier first.
        bad: datasets that are bad because of the fault.
    """

    keys: list[int]
    count: int
    tiers: Tiers
    bad: frozenset[int]


class AffectedDatasets(msgspec.Struct, frozen=True, eq=False):
    """Datasets of a root and downstream of it, most severe first: by tier, then hops, then key.

    Attributes:
        keys: of the datasets, as many as the list keeps.
        hops: of each dataset, from the root.
        count: of all datasets, including those that the list does not keep.
        first: the most severe, as many as a message lists.
        tiers: number of datasets of each tier, the highest tier first.
        by_owner: the datasets of each owner.
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
    impact: RootImpact | None, owners: OwnerNumbers | None, bad: frozenset[int], most: int
) -> AffectedDatasets:
    """Return the affected datasets of an impact.

    Args:
        impact: None for a fault of Lineward itself.
        owners: of the datasets.
        bad: datasets that are bad because of the fault.
        most: the list keeps at most so many.
    """
    if impact is None or owners is None:
        return _NONE
    # The impact is ordered by hops, then key: a stable sort by tier is enough.
    order = np.argsort(impact.tiers, kind="stable")
    keys, tiers = impact.keys[order], impact.tiers[order]
    return AffectedDatasets(
        keys[:most].copy(),
        impact.hops[order][:most].copy(),
        count=len(keys),
        first=keys[:MAX_LISTED].tolist(),
        tiers=_count_tiers(tiers),
        by_owner=_group_by_owner(keys, tiers, owners, bad),
    )


def _group_by_owner(
    keys: Keys, tiers: NDArray[np.int8], owners: OwnerNumbers, bad: frozenset[int]
) -> dict[str, OwnedDatasets]:
    codes = owners.codes_of(keys)
    is_bad = np.isin(keys, np.fromiter(bad, np.int64, len(bad)))
    order = np.argsort(codes, kind="stable")
    ends = np.flatnonzero(np.diff(codes[order])) + 1
    groups = (positions for positions in np.split(order, ends) if len(positions))
    return {
        owners.names[codes[own[0]]]: OwnedDatasets(
            keys[own[:MAX_LISTED]].tolist(),
            len(own),
            _count_tiers(tiers[own]),
            frozenset(keys[own[is_bad[own]]].tolist()),
        )
        for own in groups
        if codes[own[0]] != NO_OWNER
    }


def _count_tiers(tiers: NDArray[np.int8]) -> Tiers:
    counts = np.bincount(tiers, minlength=len(TIERS)).tolist()
    return tuple((tier, count) for tier, count in zip(TIERS, counts, strict=True) if count)
