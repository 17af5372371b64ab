"""Families of names of one dataset: partitions that no rule folds, and explosions."""

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from lineage.names.names import join_parts
from lineage.names.patterns import is_variable, pattern_of, stable_name, tighten
from lineage.policy import Policy, folds_of
from lineage.policy.compiled_folds import fold_problems
from lineage.policy.fold import Fold
from lineage.policy.patterns import pattern_of_both
from service.queries.lint.estate import Explosion, LintInput, NamedDataset
from service.queries.lint.findings import fold_line

# Three months of a table are a habit; of names with a number alone many are tables for good.
_LEAST_DATED, _LEAST_NUMBERED = 3, 20


class Family(msgspec.Struct, frozen=True):
    """Datasets of one namespace whose names have a pattern.

    Attributes:
        pattern: with each part that is the same in all names written out.
        explosion: set where it grows by more than it should.
    """

    namespace: str
    pattern: str
    members: list[NamedDataset]
    explosion: Explosion | None

    @property
    def stable(self) -> str:
        """Return the name that they share; empty if there is none."""
        return stable_name(self.pattern)


def find_families(known: LintInput) -> Iterator[Family]:
    """Return the families, explosions first, even if their names were not looked at."""
    grown = {(one.namespace, one.name): one for one in known.explosions}
    found = list(_found(known, grown))
    seen = {(one.explosion.namespace, one.explosion.name) for one in found if one.explosion}
    yield from (one for one in found if one.explosion)
    for at, explosion in grown.items():
        if at not in seen:
            yield Family(explosion.namespace, explosion.name, [], explosion)
    yield from (one for one in found if not one.explosion)


def _found(known: LintInput, grown: dict[tuple[str, str], Explosion]) -> Iterator[Family]:
    by_pattern: dict[tuple[str, str], list[NamedDataset]] = defaultdict(list)
    for one in known.datasets:
        by_pattern[one.namespace, pattern_of(one.name)].append(one)
    for (namespace, pattern), members in sorted(by_pattern.items()):
        explosion = grown.get((pattern_of(namespace), pattern))
        if len(members) >= _LEAST_DATED and is_variable(pattern):
            tight = tighten(pattern, (one.name for one in members))
            if explosion or len(members) >= _least(tight):
                named = sorted(members, key=lambda one: one.name)
                yield Family(namespace, tight, named, explosion)


def _least(pattern: str) -> int:
    return _LEAST_NUMBERED if not is_variable(pattern.replace("{n}", "")) else _LEAST_DATED


def describe_family(family: Family) -> str:
    """Describe the family; for an explosion, with its speed."""
    pattern = join_parts(family.namespace, family.pattern)
    if family.explosion:
        return f"{family.explosion.new_datasets} new datasets in the last hour: {pattern}"
    return f"{len(family.members)} datasets: {pattern}"


def folding_rule(family: Family) -> str | None:
    """Return the `folds:` line of the policy that makes them one dataset.

    None where nothing is left to call them by, or no policy can bear the line.
    """
    if not family.stable or not family.members:
        return None
    dataset = family.namespace, family.stable
    match = pattern_of_both(family.namespace, family.pattern)
    fold = Fold(match, pattern_of_both(*dataset))
    return fold_line(fold) if _holds(fold, family.members, dataset) else None


def _holds(fold: Fold, members: list[NamedDataset], dataset: tuple[str, str]) -> bool:
    """Return whether the fold is valid and folds each member; names may have a star or a brace."""
    policy = Policy(folds=(fold,))
    if next(fold_problems(policy), None) is not None:
        return False
    folds = folds_of(policy)
    return all(one.both == dataset or folds.dataset(*one.both) == dataset for one in members)
