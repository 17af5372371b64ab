"""Documented shapes of `lineward lint --json`."""

import msgspec


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
