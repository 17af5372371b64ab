"""Names of one dataset: its physical name, its symlinks, and the aliases of the policy.

The answer depends on what was reported, never on the order in which it was.
"""

from collections.abc import Iterable, Mapping

NO_OVERRULES: Mapping[int, int] = {}


def canonical_by_key(
    symlinks: Iterable[tuple[int, int]],
    primaries: Mapping[int, tuple[str, str]],
    overrules: Mapping[int, int] = NO_OVERRULES,
) -> dict[int, int]:
    """Return each dataset's canonical key, for every key that a symlink or an overrule names.

    Args:
        symlinks: (key of the reported name, key of one of its symlink identifiers).
        primaries: (namespace, name) of every key that was reported with symlinks.
        overrules: key of a name to the key of the dataset that it is; to itself: it is kept apart.

    Returns:
        key to canonical key. Of the names that mean one dataset, that is the one which the policy
        names, else the smallest by (namespace, name) of those that were reported with symlinks.
        Cycles are fine; canonical keys lead to themselves.
    """
    apart = {key for key, target in overrules.items() if key == target}
    sets = Sets()
    for key in apart:
        sets.find(key)
    for reported, identifier in [*symlinks, *overrules.items()]:
        if not apart & {reported, identifier} or overrules.get(reported) == identifier:
            sets.join(reported, identifier)
    targets = set(overrules.values())
    chosen: dict[int, int] = {}
    for members in sets.members():
        best = min(members, key=lambda key: _preference(key, primaries, targets))
        chosen |= dict.fromkeys(members, best)
    return chosen


def _preference(
    key: int, primaries: Mapping[int, tuple[str, str]], targets: set[int]
) -> tuple[bool, bool, tuple[str, str], int]:
    return key not in targets, key not in primaries, primaries.get(key, ("", "")), key


class Sets:
    """Disjoint sets of keys."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}

    def find(self, key: int) -> int:
        """Return the key that leads the set of this one."""
        root = key
        while (parent := self._parent.setdefault(root, root)) != root:
            root = parent
        while self._parent[key] != root:
            self._parent[key], key = root, self._parent[key]
        return root

    def join(self, one: int, other: int) -> None:
        """Make one set of the sets of both."""
        roots = self.find(one), self.find(other)
        # The smaller key leads: the same sets whatever the order of joining.
        self._parent[max(roots)] = min(roots)

    def members(self) -> Iterable[list[int]]:
        """Return the keys of each set."""
        by_root: dict[int, list[int]] = {}
        for key in self._parent:
            by_root.setdefault(self.find(key), []).append(key)
        return by_root.values()
