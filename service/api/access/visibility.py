"""Datasets that a caller may see: by patterns over their namespaces."""

import re
from collections.abc import Iterable
from copy import copy
from functools import lru_cache


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
