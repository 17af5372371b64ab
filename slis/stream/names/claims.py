"""Claims about names that hold: claims of others never move a dataset that somebody writes.

Anybody who may send events may name a symlink, a former name or a drop. So a claim of a name that
is written holds only if every job namespace that writes one of the names says so, and a claim of a
free name, which nobody writes or declares, only if a job namespace that writes the dataset says so.
What the policy declares is claimed by nobody. `docs/naming.md` explains the rules to people.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from lineage.names.aliases import Sets

SYMLINK, RENAME, DROP = "symlink", "rename", "drop"
_NOBODY: frozenset[str] = frozenset()


class DatasetLink(NamedTuple):
    """Link from another name of a dataset to the dataset itself.

    `alias_key` is another name (symlink), was its name (rename), or is made one by the policy.

    A policy's link to itself keeps the name apart, whatever else is claimed of it.
    """

    alias_key: int
    dataset_key: int
    rule: str


class LinkClaims(NamedTuple):
    """Claimants of a link, as job namespaces, with the times of their claims.

    `landed_at`: when the first claim landed. `first_seen_at`, `last_seen_at`: of the events of
    those who write one of the two names, µs; None if only others claim it.
    """

    by: frozenset[str]
    landed_at: int
    first_seen_at: int | None = None
    last_seen_at: int | None = None


class Writers(NamedTuple):
    """Job namespaces that write data under each name, and the names that the policy declares."""

    by_name: Mapping[int, AbstractSet[str]]
    declared: AbstractSet[int]

    def of(self, *names: int) -> AbstractSet[str]:
        """Return the job namespaces that write any of these names."""
        return frozenset().union(*(self.by_name.get(name, _NOBODY) for name in names))

    def is_anchored(self, name: int) -> bool:
        """Return whether somebody writes the name, or the policy declares it."""
        return bool(self.of(name)) or name in self.declared

    def of_joined(self, joined: Iterable[Iterable[int]]) -> "Writers":
        """Return the same, where the names of each of these sets are one dataset by the policy."""
        by_name, declared = dict(self.by_name), set(self.declared)
        for names in map(frozenset, joined):
            by_name |= dict.fromkeys(names, self.of(*names))
            if names & self.declared:
                declared |= names
        return Writers(by_name, declared)


class _Step(NamedTuple):
    """Step in which a dataset takes a free name by a link; the smallest comes first."""

    is_undeclared: bool
    landed_at: int
    dataset_key: int
    name: int
    link: DatasetLink


def holding_links(
    claims: Mapping[DatasetLink, LinkClaims],
    writers: Writers,
    policy_links: Iterable[DatasetLink] = (),
) -> set[DatasetLink]:
    """Return the links that hold, of one component; the same for every order of arrival.

    A free name that several datasets claim goes to the declared one, else to the first
    that claimed it, by Lineward's own clock.

    Args:
        claims: the links that events report.
        writers: of all names of the component.
        policy_links: what the policy joins, and keeps apart; a claim changes none of it.
    """
    by_policy = set(policy_links)
    apart = {link.alias_key for link in by_policy if link.alias_key == link.dataset_key}
    open_claims = {
        link: claim
        for link, claim in claims.items()
        if not apart & {link.alias_key, link.dataset_key}
    }
    joined = Sets()
    for link in by_policy:
        joined.join(link.alias_key, link.dataset_key)
    writers = writers.of_joined(joined.members())
    repeated = {
        link for link in open_claims if joined.find(link.alias_key) == joined.find(link.dataset_key)
    }
    others = {link: claim for link, claim in open_claims.items() if link not in repeated}
    agreed = {link for link, claim in others.items() if _is_agreed(link, claim, writers)}
    for link in agreed:
        if writers.is_anchored(link.dataset_key):
            joined.join(link.alias_key, link.dataset_key)
    return repeated | _with_free_names(agreed, joined, others, writers)


def past_renames(claims: Mapping[DatasetLink, LinkClaims], writers: Writers) -> set[DatasetLink]:
    """Return the renames whose former name is in use again: another table was renamed to it.

    A table that is swapped in (`orders` to `orders__backup`, `orders__tmp` to `orders`) keeps its
    name. A rename brings a name back only if all who write either name report it.

    Args:
        claims: the links that events report, of one component.
        writers: of all names of the component.
    """
    back = [
        link
        for link, claim in claims.items()
        if link.rule == RENAME
        and link.alias_key not in writers.declared
        and writers.of(*link[:2]) <= claim.by
    ]
    return {
        link
        for link, claim in claims.items()
        if link.rule == RENAME
        and any(_is_later(claims[other], claim, other, link) for other in back)
    }


def _is_later(other: LinkClaims, claim: LinkClaims, back: DatasetLink, link: DatasetLink) -> bool:
    if back.dataset_key != link.alias_key:
        return False
    # A table may be renamed to and fro: of these two the last rename counts.
    is_reverse = back.alias_key == link.dataset_key
    before = claim.last_seen_at if is_reverse else claim.first_seen_at
    if before is None or other.last_seen_at is None:  # Times of strangers count for nothing.
        return False
    return other.last_seen_at > before


def _is_agreed(link: DatasetLink, claim: LinkClaims, writers: Writers) -> bool:
    """Return whether the name has an owner, and all who write either name claim the link."""
    owners = writers.of(link.alias_key)
    everybody = owners | writers.of(link.dataset_key)
    if not owners or not everybody <= claim.by:
        return False
    if link.rule == RENAME:
        return link.alias_key not in writers.declared
    # A declared dataset that nobody writes is not handed to somebody else's data.
    return link.dataset_key not in writers.declared or bool(writers.of(link.dataset_key))


def _with_free_names(
    agreed: AbstractSet[DatasetLink],
    joined: Sets,
    claims: Mapping[DatasetLink, LinkClaims],
    writers: Writers,
) -> set[DatasetLink]:
    """Return the links that are agreed, and those by which datasets have their free names."""
    free = [link for link in claims if link.rule == SYMLINK and not writers.is_anchored(link[0])]
    between = [link for link in free if not writers.is_anchored(link.dataset_key)]
    near: defaultdict[int, list[tuple[int, DatasetLink]]] = defaultdict(list)
    for link in between:
        one, other = joined.find(link.alias_key), joined.find(link.dataset_key)
        near[one].append((other, link))
        near[other].append((one, link))
    holds = {link for link in agreed if writers.is_anchored(link.dataset_key)}
    taken: defaultdict[int, list[_Step]] = defaultdict(list)
    steps = _first_steps(agreed - holds, set(free) - set(between), claims, writers)
    heapq.heapify(steps)
    while steps:
        step = heapq.heappop(steps)
        name = joined.find(step.name)
        holders = taken[name]
        if holders and not _may_share(step, holders, joined, claims, writers):
            continue
        if not holders:
            for further in _further_steps(step, near[name], claims, writers):
                heapq.heappush(steps, further)
        holders.append(step)
        joined.join(step.dataset_key, holders[0].dataset_key)
        holds.add(step.link)
    # Between names that belong to no dataset there is nobody to ask.
    names = taken.keys()
    return holds | {
        link
        for link in between
        if not names & {joined.find(link.alias_key), joined.find(link.dataset_key)}
    }


def _first_steps(
    agreed: Iterable[DatasetLink],
    free: Iterable[DatasetLink],
    claims: Mapping[DatasetLink, LinkClaims],
    writers: Writers,
) -> list[_Step]:
    """Return the free names that datasets claim themselves, by job namespaces that write them."""
    by_name = [(link.alias_key, link.dataset_key, link) for link in agreed]
    by_name += [
        (link.dataset_key, link.alias_key, link)
        for link in free
        if claims[link].by & writers.of(link.dataset_key)
    ]
    return [
        _Step(dataset not in writers.declared, claims[link].landed_at, dataset, name, link)
        for dataset, name, link in by_name
    ]


def _further_steps(
    step: _Step,
    near: Iterable[tuple[int, DatasetLink]],
    claims: Mapping[DatasetLink, LinkClaims],
    writers: Writers,
) -> Iterator[_Step]:
    """Return the free names that the dataset's writers report as names of the name it took."""
    ours = writers.of(step.dataset_key)
    for name, link in near:
        if claims[link].by & ours:
            landed_at = max(step.landed_at, claims[link].landed_at)
            yield step._replace(landed_at=landed_at, name=name, link=link)


def _may_share(
    step: _Step,
    holders: list[_Step],
    joined: Sets,
    claims: Mapping[DatasetLink, LinkClaims],
    writers: Writers,
) -> bool:
    """Return whether one dataset has the name already, or all who write the datasets agree."""
    if joined.find(step.dataset_key) == joined.find(holders[0].dataset_key):
        return True
    both = [step, *holders]
    everybody = writers.of(*(one.dataset_key for one in both))
    return all(everybody <= claims[one.link].by for one in both)
