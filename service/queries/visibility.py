"""Datasets that a caller may see, by patterns over namespaces; also as a condition of queries.

Pages are cut after the condition.
"""

import re
from collections.abc import Iterable
from copy import copy
from functools import lru_cache
from typing import Final

from lineage.catalog.queries import IS_LINK
from lineage.catalog.reader import CatalogReader

UNSEEN: Final = "parts are hidden from this token"

# A dataset of several names is shown to a token that may see each of them: an event that joins
# two names shows no dataset to another token. A symlink is such a name, also if no event uses it.
# Names that the policy folds are none: they are endless, and the policy itself calls them so.
_EVERY_NAME = f"""
  AND NOT EXISTS (SELECT 1 FROM dataset m WHERE m.canonical_key = d.canonical_key
    AND m.namespace NOT IN ({{listed}}))
  AND NOT EXISTS (SELECT 1 FROM dataset m JOIN dataset_alias a ON a.dataset_key = m.dataset_key
    WHERE m.canonical_key = d.canonical_key AND a.{IS_LINK}
    AND a.namespace NOT IN ({{listed}}))"""  # noqa: S608 - words of ours
_HIDDEN = f"""
SELECT canonical_key FROM dataset WHERE canonical_key <> dataset_key
  AND namespace NOT IN ({{listed}})
UNION SELECT m.canonical_key FROM dataset m
  JOIN dataset c ON c.dataset_key = m.canonical_key WHERE m.canonical_key <> m.dataset_key
  AND c.namespace NOT IN ({{listed}})
UNION SELECT m.canonical_key FROM dataset_alias a JOIN dataset m ON m.dataset_key = a.dataset_key
  WHERE a.{IS_LINK} AND a.namespace NOT IN ({{listed}})
ORDER BY 1
"""  # noqa: S608 - words of ours
_NAMESPACES = {
    "dataset": f"""
SELECT DISTINCT namespace FROM dataset
UNION SELECT namespace FROM dataset_alias WHERE {IS_LINK}
""",  # noqa: S608 - words of ours
    "dataset_alias": "SELECT DISTINCT namespace FROM dataset_alias",
}


class Visibility:
    """Permitted namespaces. A pattern matches the whole namespace, as naming folds it."""

    def __init__(self, patterns: Iterable[str]) -> None:
        given = tuple(patterns)
        self.is_whole = "*" in given
        self._tests = () if self.is_whole else tuple(map(_compiled, given))
        self._known: dict[str, bool] = {}
        self.hidden: frozenset[int] = frozenset()

    def without(self, hidden: Iterable[int]) -> "Visibility":
        """Return the same, but for these datasets: one of their names is out of visibility."""
        found = copy(self)
        found.hidden = frozenset(hidden)
        return found

    def sees(self, namespace: str, key: int | None = None) -> bool:
        """Return whether a namespace may be shown; with `key`, whether this dataset of it may."""
        if self.is_whole:
            return True
        if key in self.hidden:
            return False
        known = self._known.get(namespace)
        if known is None:
            known = any(test.fullmatch(f"{namespace}\0") for test in self._tests)
            self._known[namespace] = known
        return known


@lru_cache(maxsize=1_024)
def _compiled(pattern: str) -> re.Pattern[str]:
    # At its first use: the policy brings YAML, which a command that asks cannot wait for.
    from lineage.policy.patterns import PatternParts, matcher  # noqa: PLC0415

    return matcher(PatternParts(namespace=pattern)).regex


EVERYTHING = Visibility(["*"])


def sql_filter(
    reader: CatalogReader, visibility: Visibility, *, table: str = "dataset"
) -> tuple[str, dict[str, str]]:
    """Return a condition on a dataset `d`, and its values: visible namespaces are few.

    Args:
        reader: of the catalog.
        visibility: of the one who asks.
        table: `d` in the question: `dataset` or `dataset_alias`.
    """
    if visibility.is_whole:
        return "1 = 1", {}
    every_name = _EVERY_NAME if table == "dataset" else ""
    listed, values = _listed(reader, visibility, table)
    if not values:
        return "1 = 0", values
    return f"(d.namespace IN ({listed}){every_name.format(listed=listed)})", values


def hidden_keys(reader: CatalogReader, visibility: Visibility) -> list[int]:
    """Return the datasets with a name that may not be seen, whatever they are called."""
    if visibility.is_whole:
        return []
    listed, values = _listed(reader, visibility, "dataset")
    # NULL equals no name: a token without a namespace sees no dataset.
    return [key for (key,) in reader.rows(_HIDDEN.format(listed=listed or "NULL"), values)]


def _listed(
    reader: CatalogReader, visibility: Visibility, table: str
) -> tuple[str, dict[str, str]]:
    """Return the namespaces that may be seen: as a list of parameters, and their values."""
    names = [row[0] for row in reader.rows(_NAMESPACES[table]) if visibility.sees(row[0])]
    values = {f"seen_{n}": name for n, name in enumerate(names)}
    return ", ".join(f":{name}" for name in values), values
