"""Tier and owner of each dataset, in memory: an impact of thousands looks them up here.

As the policy was resolved last. What came since is not here; what was retired since still is.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from lineage.catalog.meta_keys import POLICY_FINGERPRINT
from lineage.catalog.reader import CatalogReader
from lineage.graph.adjacency import Keys, positions_in
from lineage.graph.cache.pieces import numbers_by_key
from lineage.graph.walks import Responsible

# Noted in the transaction that writes what was resolved.
_RESOLVED: Final = f"SELECT value FROM meta WHERE name = '{POLICY_FINGERPRINT}'"  # noqa: S608
_POLICIES: Final = """
SELECT dataset_key, tier, owner FROM dataset_policy WHERE dataset_key BETWEEN :low AND :high
"""


class Policies(msgspec.Struct, frozen=True, eq=False):
    """Policies as of `resolved`. `numbers`: for each ascending key its place in `found`."""

    resolved: str | None
    keys: Keys
    numbers: NDArray[np.int32]
    found: NDArray[np.object_]  # tiers with owners: few, of many datasets

    def of(self, keys: Sequence[int]) -> list[Responsible | None]:
        """Tier and owner of each of these; none of what is not here."""
        at, is_known = positions_in(self.keys, np.array(keys, np.int64))
        policies = np.full(len(keys), None, object)
        policies[is_known] = self.found[self.numbers[at]]
        owners: list[Responsible | None] = policies.tolist()
        return owners


NO_POLICIES: Final = Policies(
    None, np.array([], np.int64), np.array([], np.int32), np.array([], object)
)


def read_policies(reader: CatalogReader, before: Policies) -> Policies:
    """Read all of the catalog, or return `before` where nothing was resolved since."""
    resolved = next((value for (value,) in reader.rows(_RESOLVED)), None)
    if resolved == before.resolved:
        return before
    known: dict[Responsible, int] = {}

    def numbered(*tiers_owners: list[Any]) -> NDArray[np.int32]:
        found = zip(*tiers_owners, strict=True)
        return np.array([known.setdefault(each, len(known)) for each in found], np.int32)

    keys, numbers = numbers_by_key(reader, _POLICIES, 3, numbered)
    return Policies(resolved, keys, numbers, np.fromiter(known, object))
