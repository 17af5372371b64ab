"""Datasets that no SLI calls bad, and whose last run failed: they are shown as failing."""

from collections.abc import Sequence
from typing import Final

from lineage.catalog.queries import FAILS
from lineage.catalog.reader import Reader, rows_for
from lineage.states import BAD, FAILING, GOOD, LEARNING, UNKNOWN

# Every state as it is shown, the most severe first.
SHOWN: Final = (BAD, FAILING, UNKNOWN, LEARNING, GOOD)
# States that say less than a failed run does. What is unknown stays so.
REPLACED: Final = (LEARNING, GOOD)
KEYS: Final = f"SELECT dataset_key FROM dataset_activity WHERE {FAILS}"  # noqa: S608 - a constant
_AMONG = f"{KEYS} AND dataset_key IN (:keys)"


def mark_failing(reader: Reader, keys: Sequence[int], states: Sequence[str]) -> list[str]:
    """Return the states of these datasets, `failing` where the last run failed."""
    known = dict(zip(keys, states, strict=True))
    rows = rows_for(reader, _AMONG, [key for key in keys if known[key] in REPLACED])
    known |= {key: FAILING for (key,) in rows}
    return [known[key] for key in keys]
