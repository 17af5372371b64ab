"""Tier, owner and worst state of each dataset, in memory: for a graph or an impact of thousands.

Tiers and owners are as the policy was resolved last. What came since is not here; what was retired
since still is. States are of one judgement of the catalog, and known by it: an answer of another
one asks the catalog. Both are read in batches: a large estate is never in memory as texts at once.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from lineage.catalog.meta_keys import EDGES_EVALUATED_AT, POLICY_FINGERPRINT
from lineage.catalog.reader import CatalogReader
from lineage.graph.adjacency import Keys, positions_in
from lineage.graph.walks import Responsible
from lineage.states import BAD, GOOD, LEARNING, UNKNOWN

_PIECES: Final = 16

# Noted in the transaction that writes what was resolved.
_RESOLVED: Final = f"SELECT value FROM meta WHERE name = '{POLICY_FINGERPRINT}'"  # noqa: S608
_POLICIES_OF_KEYS: Final = """
SELECT dataset_key, tier, owner FROM dataset_policy WHERE dataset_key BETWEEN :low AND :high
"""

# All that judges is one of these two evaluations, in a transaction with its instant. (A batch that
# folds one dataset into another forgets the first one's states; the next evaluation follows.)
_JUDGED: Final = f"""
SELECT (SELECT MAX(as_of) FROM evaluation),
  (SELECT value FROM meta WHERE name = '{EDGES_EVALUATED_AT}')
"""  # noqa: S608 - a constant
_NAMES: Final = np.array([None, GOOD, LEARNING, UNKNOWN, BAD], object)
_STATES_OF_KEYS = f"""
SELECT dataset_key, CASE state WHEN '{GOOD}' THEN 1 WHEN '{LEARNING}' THEN 2
  WHEN '{UNKNOWN}' THEN 3 WHEN '{BAD}' THEN 4 ELSE 0 END
FROM dataset_state WHERE is_worst AND dataset_key BETWEEN :low AND :high
"""  # noqa: S608 - constants only

Judged = tuple[int | None, str | None]  # when datasets were judged last, and edges


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


class Policies(msgspec.Struct, frozen=True, eq=False):
    """Policies as of `resolved`. `numbers`: for each ascending key its place in `found`."""

    resolved: str | None
    keys: Keys
    numbers: NDArray[np.int32]
    found: NDArray[np.object_]  # tiers with owners: few, of many datasets

    def of(self, keys: Sequence[int]) -> list[Responsible | None]:
        """Return tier and owner of each of these; none of what is not here."""
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

    keys, numbers = numbers_by_key(reader, _POLICIES_OF_KEYS, 3, numbered)
    return Policies(resolved, keys, numbers, np.fromiter(known, object))


class States(msgspec.Struct, frozen=True, eq=False):
    """States as of `judged`. `numbers`: the state of each of the ascending `keys`."""

    judged: Judged
    keys: Keys
    numbers: NDArray[np.int8]

    def of(self, keys: Sequence[int]) -> list[str | None]:
        """Return the worst state of each of these datasets, None where it has none."""
        at, is_known = positions_in(self.keys, np.array(keys, np.int64))
        numbers = np.zeros(len(keys), np.int8)
        numbers[is_known] = self.numbers[at]
        states: list[str | None] = _NAMES[numbers].tolist()
        return states


NO_STATES: Final = States((None, None), np.array([], np.int64), np.array([], np.int8))


def read_states(reader: CatalogReader, before: States) -> States:
    """Read all of the catalog, or return `before` where nothing was judged since."""
    ((as_of, edges_at),) = reader.rows(_JUDGED)
    judged = (as_of, edges_at)
    if judged == before.judged:
        return before
    as_numbers = partial(np.array, dtype=np.int8)
    return States(judged, *numbers_by_key(reader, _STATES_OF_KEYS, 2, as_numbers))
