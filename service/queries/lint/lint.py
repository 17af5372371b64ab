"""Datasets that look like one under two names, with the lines of the policy that join them."""

from collections.abc import Iterable, Iterator

from lineage.catalog.reader import CatalogReader
from lineage.names.patterns import NAME_EXPLOSION
from service.queries.lint.claims import find_claims
from service.queries.lint.duplicate_names import DuplicateNames, find_duplicates
from service.queries.lint.estate import (
    MOST_DATASETS,
    LintInput,
    NamedDataset,
    fed_by,
    feed_one_another,
    load_estate,
)
from service.queries.lint.families import Family, describe_family, find_families, folding_rule
from service.queries.lint.findings import Finding, LintAnswer, LintName, alias_line, is_expressible
from service.queries.timestamps import iso

MOST_FINDINGS = 100
_MOST_NAMES = 10
_PARTITIONS = "partitions"


def find_duplicates_and_claims(
    reader: CatalogReader, *, limit: int = MOST_FINDINGS, most_datasets: int = MOST_DATASETS
) -> LintAnswer:
    """List possible duplicate datasets, name explosions first.

    Args:
        reader: of the catalog.
        limit: of findings.
        most_datasets: to look at; those seen latest.
    """
    known = load_estate(reader, most=most_datasets)
    found = list(_findings(reader, known))
    reasons = _cuts(found, known, limit)
    return LintAnswer(
        findings=found[:limit],
        total=len(found),
        datasets=len(known.datasets),
        partial=bool(reasons),
        partial_reason="; ".join(reasons) or None,
    )


def _cuts(found: list[Finding], known: LintInput, limit: int) -> list[str]:
    reasons = []
    if known.is_partial:
        reasons.append(f"only the {len(known.datasets):,} datasets seen latest were looked at")
    if len(found) > limit:
        reasons.append(f"{limit} of {len(found)} findings shown")
    if long := sum(one.count > len(one.names) for one in found[:limit]):
        reasons.append(f"of {long} findings only the first {_MOST_NAMES} names are listed")
    return reasons


def _findings(reader: CatalogReader, known: LintInput) -> Iterator[Finding]:
    like_names, pairs = list(find_families(known)), list(find_duplicates(reader, known))
    members = [one for family in like_names for one in family.members]
    members += [one for pair in pairs for one in pair.members]
    feeding = fed_by(reader, {one.key for one in members})
    of_families = [
        _of_family(family, is_apart=feed_one_another(family.members, feeding))
        for family in like_names
        if family.explosion or not feed_one_another(family.members, feeding)
    ]
    yield from (one for one in of_families if one.kind == NAME_EXPLOSION)
    yield from find_claims(reader)
    alike = (found for found in pairs if not feed_one_another(found.members, feeding))
    yield from (_of_twins(found, known) for found in alike)
    yield from (one for one in of_families if one.kind != NAME_EXPLOSION)


def _of_twins(found: DuplicateNames, known: LintInput) -> Finding:
    target = min(found.members, key=lambda one: _preference(one, known))
    return Finding(
        kind=found.kind,
        dataset_namespace=target.namespace,
        dataset=target.name,
        evidence=found.evidence,
        count=len(found.members),
        names=_listed(found.members),
        policy=list(_lines(found.members, target.both)),
    )


def _preference(one: NamedDataset, known: LintInput) -> tuple[bool, bool, tuple[str, str]]:
    """Choose the physical dataset: the one that is written, then the one with symlinks."""
    return one.last_written_at is None, one.key not in known.symlinks, one.both


def _of_family(family: Family, *, is_apart: bool) -> Finding:
    """Return the finding; an explosion of datasets that feed one another has no line to fold it."""
    name, example = family.stable, family.explosion.example if family.explosion else None
    rule = None if is_apart else folding_rule(family)
    target = (family.namespace, name)
    return Finding(
        kind=NAME_EXPLOSION if family.explosion else _PARTITIONS,
        dataset_namespace=family.namespace,
        dataset=name or family.pattern,
        evidence=describe_family(family),
        count=len(family.members) or (family.explosion.new_datasets if family.explosion else 0),
        names=_listed(family.members) or ([LintName(*example, None)] if example else []),
        policy=list(_lines(family.members, target)) if name and not (rule or is_apart) else [],
        folding_rule=rule,
        new_per_hour=family.explosion.new_datasets if family.explosion else None,
    )


def _listed(members: Iterable[NamedDataset]) -> list[LintName]:
    first = list(members)[:_MOST_NAMES]
    return [LintName(one.namespace, one.name, iso(one.last_written_at)) for one in first]


def _lines(members: list[NamedDataset], target: tuple[str, str]) -> Iterator[str]:
    """Return one policy line for each name that the policy can express."""
    if not is_expressible(target):
        return
    for one in members[:_MOST_NAMES]:
        if one.both != target and is_expressible(one.both):
            yield alias_line(one.both, target)
