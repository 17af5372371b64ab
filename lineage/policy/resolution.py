"""Decision of the policy about one dataset or job: the most specific matching rule counts.

Each thing is decided for itself: a rule for one dataset may give its tier, and one for its folder
the owner. Specific is what has more literal characters; of two alike, what stands later in the
file.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import msgspec

from lineage.names.keys import key
from lineage.names.names import Name, fold, join_parts
from lineage.names.rules import SEPARATOR
from lineage.policy.compiled_folds import folds_of
from lineage.policy.model import DatasetRule, JobRule, MatchPattern, Policy, Suppression
from lineage.policy.patterns import dataset_of, matcher
from lineage.policy.values import seconds_of
from lineage.states import TIERS, Tier

R = TypeVar("R", DatasetRule, JobRule, Suppression)
# Whether the pattern is parted, its literal start, the test of the whole text, and the rule.
_Ready = tuple[tuple[bool, str, Callable[[str], object], R], ...]


class PolicyDecision(msgspec.Struct, frozen=True):
    """Decision of the policy about a dataset; None and False for fields that it leaves out.

    Attributes:
        rule: pattern of the most specific rule that matches, for the person who asks why.
        is_declared: some rule names this dataset outright.
    """

    tier: Tier | None = None
    owner: str | None = None
    source: bool = False
    generated: bool = False
    streaming: bool = False
    regulated: bool = False
    pii: bool = False
    limit_seconds: int | None = None
    calendar: str | None = None
    rule: str | None = None
    is_declared: bool = False


def decide_policy(policy: Policy, namespace: str, name: str) -> PolicyDecision:
    """Decide for a dataset by its folded name, in a few µs: 100,000 take under a second."""
    index = _index(policy)
    matching = tuple(_matching(index.datasets, namespace, name))
    # Few sets of rules ever match together: each is decided once. Literals name one dataset only.
    key = tuple(map(id, matching))
    known = index.decisions.get(key)
    if known is None:
        known = index.decisions[key] = _decided(matching)
    return known


def resolve_names(policy: Policy, names: Sequence[Name]) -> PolicyDecision:
    """Return the decision for a dataset by all its names; the first one is what it is called.

    If rules name the dataset outright, only that name counts and the names that the policy joins to
    it: names that events give to the dataset change nothing. Rules that name the dataset outright
    come before patterns, whichever name they match. Of several tiers that are left the strictest
    holds.
    """
    names = _deciding_names(policy, names)
    if len(names) == 1:
        return decide_policy(policy, *names[0])
    index = _index(policy)
    matched = {id(rule) for name in names for rule in _matching(index.datasets, *name)}
    rules = [rule for *_, rule in index.datasets if id(rule) in matched]
    rules.sort(key=lambda rule: dataset_of(rule.match) is None)
    decisions = [decide_policy(policy, *name) for name in names]
    declared = [one for one in decisions if one.is_declared and one.tier]
    tiers = [one.tier for one in declared or decisions if one.tier]
    tier = min(tiers, key=TIERS.index, default=None)
    return msgspec.structs.replace(_decided(tuple(rules)), tier=tier)


def _deciding_names(policy: Policy, names: Sequence[Name]) -> Sequence[Name]:
    """Return the names of a dataset that decide: all, or those that are declared or joined to one.

    Anybody who writes a dataset may give it names that nobody writes.
    """
    if len(names) == 1:
        return names
    datasets = {name: _dataset_by_policy(policy, name) for name in names}
    declared = {datasets[name] for name in names if decide_policy(policy, *name).is_declared}
    return [name for name in names if datasets[name] in declared] or names


def _dataset_by_policy(policy: Policy, name: Name) -> Name:
    """Return the dataset that the policy's aliases and folds take this name for."""
    aliases, passed = _index(policy).aliases, set[Name]()
    while name not in passed:
        passed.add(name)
        name = aliases.get(name) or folds_of(policy).dataset(*name) or name
    return name


def _decided(matching: tuple[DatasetRule, ...]) -> PolicyDecision:
    limit = _first(matching, "limit")
    return PolicyDecision(
        tier=_first(matching, "tier"),
        owner=_first(matching, "owner"),
        source=bool(_first(matching, "source")),
        generated=bool(_first(matching, "generated")),
        streaming=bool(_first(matching, "streaming")),
        regulated=bool(_first(matching, "regulated")),
        pii=bool(_first(matching, "pii")),
        limit_seconds=None if limit is None else seconds_of(limit),
        calendar=_first(matching, "calendar"),
        rule=_shown(matching[0].match) if matching else None,
        is_declared=any(dataset_of(rule.match) for rule in matching),
    )


def owner_of_job(policy: Policy, namespace: str, name: str) -> str | None:
    """Return the owner of a job, by the most specific rule that matches it."""
    return next((rule.owner for rule in _matching(_index(policy).jobs, namespace, name)), None)


def suppressions_of(policy: Policy, namespace: str, name: str) -> list[Suppression]:
    """Return the windows whose pattern matches a dataset, whenever they are."""
    return list(_matching(_index(policy).suppressions, namespace, name))


def _matching(rules: _Ready[R], namespace: str, name: str) -> Iterator[R]:
    whole, parted = join_parts(namespace, name), f"{namespace}{SEPARATOR}{name}"
    for is_parted, prefix, fullmatch, rule in rules:
        text = parted if is_parted else whole
        if text.startswith(prefix) and fullmatch(text):
            yield rule


def _first(rules: tuple[DatasetRule, ...], field: str):  # type: ignore[no-untyped-def]  # noqa: ANN202 - of any field
    return next((value for rule in rules if (value := getattr(rule, field)) is not None), None)


def _shown(match: MatchPattern) -> str:
    return match if isinstance(match, str) else f"{match.namespace} {match.name}"


class _Index(msgspec.Struct, frozen=True):
    datasets: _Ready[DatasetRule]
    jobs: _Ready[JobRule]
    suppressions: _Ready[Suppression]
    aliases: dict[Name, Name]
    decisions: dict[tuple[int, ...], PolicyDecision]


def _index(policy: Policy) -> _Index:
    """Return the compiled rules, made once a policy and kept on it like its cached properties."""
    known = policy.__dict__.get("_index")
    if isinstance(known, _Index):
        return known
    sources = tuple(DatasetRule(match, source=True) for match in policy.sources)
    index = _Index(
        datasets=_ordered(policy.datasets + sources),
        jobs=_ordered(policy.jobs),
        suppressions=_ordered(policy.suppressions),
        aliases=dict(policy.overrules()),
        decisions={},
    )
    policy.__dict__["_index"] = index
    return index


def _ordered(rules: tuple[R, ...]) -> _Ready[R]:
    """Sort the most specific first; of two alike, the later one in the file."""
    pairs = [(matcher(rule.match), rule) for rule in reversed(rules)]
    pairs.sort(key=lambda pair: -pair[0].specificity)
    return tuple((test.is_parted, test.prefix, test.regex.fullmatch, rule) for test, rule in pairs)


def declared_edges(policy: Policy) -> set[tuple[int, int]]:
    """Return (upstream, downstream) keys of the edges that the policy expects."""
    return {(_key(*upper), _key(*lower)) for upper, lower in policy.expected_edges()}


def _key(namespace: str, name: str) -> int:
    folded = fold(namespace, name)
    return key(folded.namespace, folded.name)
