"""Worst state of each dataset, in memory: a graph of thousands is coloured by it.

Of one judgement of the catalog, and known by it: an answer of another one asks the catalog.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from lineage.catalog.meta_keys import EDGES_EVALUATED_AT
from lineage.catalog.reader import CatalogReader
from lineage.graph.adjacency import Keys, positions_in
from lineage.graph.cache.pieces import numbers_by_key
from lineage.states import BAD, GOOD, LEARNING, UNKNOWN

# All that judges is one of these two evaluations, in a transaction with its instant. (A batch that
# folds one dataset into another forgets the first one's states; the next evaluation follows.)
_JUDGED: Final = f"""
SELECT (SELECT MAX(as_of) FROM evaluation),
  (SELECT value FROM meta WHERE name = '{EDGES_EVALUATED_AT}')
"""  # noqa: S608 - a constant
_NAMES: Final = np.array([None, GOOD, LEARNING, UNKNOWN, BAD], object)
_STATES = f"""
SELECT dataset_key, CASE state WHEN '{GOOD}' THEN 1 WHEN '{LEARNING}' THEN 2
  WHEN '{UNKNOWN}' THEN 3 WHEN '{BAD}' THEN 4 ELSE 0 END
FROM dataset_state WHERE is_worst AND dataset_key BETWEEN :low AND :high
"""  # noqa: S608 - constants only

Judged = tuple[int | None, str | None]  # when datasets were judged last, and edges


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
    return States(judged, *numbers_by_key(reader, _STATES, 2, as_numbers))
