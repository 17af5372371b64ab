"""Which claims about names hold: what others say never moves a dataset that somebody writes.

Anybody who may send events may name a symlink, a former name or a drop. So a claim holds only if
every job namespace that writes one of the names says so, or nobody writes the name that is claimed.
What the policy declares is claimed by nobody. `docs/naming.md` explains the rules to people.
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from lineage.aliases import Sets

SYMLINK, RENAME, DROP = "symlink", "rename", "drop"
_NOBODY: frozenset[str] = frozenset()


class Link(NamedTuple):
    """`alias_key` is another name of a dataset (symlink), was its name (rename), or is it (policy).

    A policy's link to itself keeps the name apart, whatever else is said of it.
    """

    alias_key: int
    dataset_key: int
    rule: str


class Claim(NamedTuple):
    """Who claims a link, as job namespaces, and when the first of these claims landed."""

    by: frozenset[str]
    landed_at: int


class Writers(NamedTuple):
    """Job namespaces that write data under each name, and the names that the policy declares."""

    by_name: Mapping[int, AbstractSet[str]]
    declared: AbstractSet[int]

    def of(self, *names: int) -> AbstractSet[str]:
        """Return the job namespaces that write any of these names."""
        return frozenset().union(*(self.by_name.get(name, _NOBODY) for name in names))

    def is_anchored(self, name: int) -> bool:
        """Whether somebody writes the name, or the policy declares it."""
        return bool(self.of(name)) or name in self.declared


def holding(claims: Mapping[Link, Claim], writers: Writers) -> set[Link]:
    """Return the links that hold, of one component; the same for every order of arrival.

    Only a free name that several datasets claim goes to the declared one, else to whoever
    claimed it first, by Lineward's own clock.
    """
    agreed = {link for link, claim in claims.items() if _is_agreed(link, claim, writers)}
    free = [link for link in claims if link.rule == SYMLINK and not writers.is_anchored(link[0])]
    return agreed | _uncontested(free, agreed, claims, writers)


def _is_agreed(link: Link, claim: Claim, writers: Writers) -> bool:
    """Whether the name belongs to somebody, and all who write either name say so."""
    owners = writers.of(link.alias_key)
    everybody = owners | writers.of(link.dataset_key)
    if not owners or not everybody <= claim.by:
        return False
    if link.rule == RENAME:
        return link.alias_key not in writers.declared
    # A declared dataset that nobody writes is not handed to somebody else's data.
    return link.dataset_key not in writers.declared or bool(writers.of(link.dataset_key))


def _uncontested(
    free: Iterable[Link], agreed: Iterable[Link], claims: Mapping[Link, Claim], writers: Writers
) -> set[Link]:
    """Links to names that nobody writes: all of a group's, unless its datasets do not agree."""
    same, groups = Sets(), Sets()
    for link in agreed:
        same.join(link.alias_key, link.dataset_key)
    links = list(free)
    for link in links:
        groups.find(link.alias_key)
        if not writers.is_anchored(link.dataset_key):
            groups.join(link.alias_key, link.dataset_key)
    by_group: dict[int, list[Link]] = {}
    for link in links:
        by_group.setdefault(groups.find(link.alias_key), []).append(link)
    return {link for group in by_group.values() for link in _kept(group, same, claims, writers)}


def _kept(
    links: list[Link], same: Sets, claims: Mapping[Link, Claim], writers: Writers
) -> Iterator[Link]:
    to_datasets = [link for link in links if writers.is_anchored(link.dataset_key)]
    datasets = {same.find(link.dataset_key) for link in to_datasets}
    everybody = writers.of(*(link.dataset_key for link in to_datasets))
    if len(datasets) <= 1 or all(everybody <= claims[link].by for link in to_datasets):
        yield from links
        return

    def place(link: Link) -> tuple[bool, int, int]:
        return link.dataset_key not in writers.declared, claims[link].landed_at, link.dataset_key

    first = same.find(min(to_datasets, key=place).dataset_key)
    for link in links:
        if not writers.is_anchored(link.dataset_key) or same.find(link.dataset_key) == first:
            yield link
