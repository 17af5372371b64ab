"""Findings of `lineward lint`: their documented shapes, and lines of the policy to copy."""

import msgspec

from lineage.names.names import join_parts
from lineage.policy.fold import Fold
from lineage.policy.patterns import dataset_of, pattern_of_both, pattern_yaml, quote_yaml

_Name = tuple[str, str]


class LintName(msgspec.Struct, frozen=True):
    """Name that looks like another name of one dataset."""

    dataset_namespace: str
    dataset: str
    last_written_at: str | None  # ISO 8601, UTC


class Finding(msgspec.Struct, frozen=True):
    """Names that look like one dataset, and what would join them.

    Attributes:
        kind: case | scheme | symlink | partitions | name_explosion, or of what events cannot
            decide: claim | tier_tag | owner_facet.
        count: of the names; `names` are the first ones.
        dataset: what they would be called: one of them, or what their names have alike.
        policy: lines for `aliases:` of the policy, for the names that are listed; none where a
            rule joins them all.
        folding_rule: the line for `folds:` of the policy that joins them, and those to come.
        new_per_hour: of a name explosion.
    """

    kind: str
    dataset_namespace: str
    dataset: str
    evidence: str
    count: int
    names: list[LintName]
    policy: list[str]
    folding_rule: str | None = None
    new_per_hour: int | None = None


class LintAnswer(msgspec.Struct, frozen=True):
    """Findings, the surest kinds first; `total` is before any cut."""

    findings: list[Finding]
    total: int
    datasets: int
    partial: bool
    partial_reason: str | None


def alias_line(name: _Name, dataset: _Name) -> str:
    """Return a line of `aliases:`."""
    return f"- {{{_both_names(name, dataset)}}}"


def apart_line(name: _Name, dataset: _Name) -> str:
    """Return a line of `aliases:` that keeps two datasets apart."""
    return f"- {{{_both_names(name, dataset)}, apart: true}}"


def _both_names(name: _Name, dataset: _Name) -> str:
    return f"name: {quote_yaml(join_parts(*name))}, dataset: {quote_yaml(join_parts(*dataset))}"


def tier_line(dataset: _Name, tier: str) -> str:
    """Return a line of `datasets:`."""
    return f"- {{match: {pattern_yaml(pattern_of_both(*dataset))}, tier: {tier}}}"


def fold_line(fold: Fold) -> str:
    """Return a line of `folds:`."""
    return f"- {{match: {pattern_yaml(fold.match)}, dataset: {pattern_yaml(fold.dataset)}}}"


def is_expressible(name: _Name) -> bool:
    """Return whether the policy can name this dataset: joined and split, its name is the same."""
    return dataset_of(join_parts(*name)) == name
