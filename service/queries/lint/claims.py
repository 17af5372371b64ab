"""Claims of events that have no effect, each with the policy's line that settles it.

The line keeps names apart: nobody is to accept a claim by copying all lines.
"""

from collections.abc import Iterator
from typing import Final

from lineage.catalog.queries import FOREIGN_OWNERS
from lineage.catalog.reader import CatalogReader
from lineage.catalog.rows import Row
from lineage.names.names import join_parts
from lineage.process.clock import from_micros
from lineage.states import TIERS
from service.queries.lint.findings import Finding, LintName, apart_line, is_expressible, tier_line

CLAIM, TIER_TAG, OWNER_FACET = "claim", "tier_tag", "owner_facet"
_MOST: Final = 1_000
_REJECTED = """
SELECT c.namespace, c.name, c.rule, o.namespace AS other_namespace, o.name AS other_name,
  min(c.job_namespace) AS job_namespace, count(*) AS claims, max(c.last_landed_at) AS last_at
FROM dataset_claim c LEFT JOIN dataset o ON o.dataset_key = c.dataset_key
WHERE c.is_refused AND NOT EXISTS (
  SELECT 1 FROM dataset_alias a WHERE a.rule = 'policy' AND a.alias_key = c.alias_key)
GROUP BY c.namespace, c.name, c.rule, o.namespace, o.name
ORDER BY max(c.last_landed_at) DESC, c.namespace, c.name, c.rule LIMIT :most
"""
_TAGS = """
SELECT d.namespace, d.name, lower(t.value), p.tier, p.tier_origin FROM tag t
JOIN dataset d ON d.dataset_key = t.dataset_key
JOIN dataset_policy p ON p.dataset_key = t.dataset_key
WHERE lower(t.tag) = 'tier' AND d.retired_at IS NULL
ORDER BY d.namespace, d.name LIMIT :most
"""
_OWNERS = f"""
SELECT d.namespace, d.name, o.owner, p.owner FROM ownership o
JOIN dataset d ON d.dataset_key = o.subject_key
JOIN dataset_policy p ON p.dataset_key = o.subject_key
WHERE o.subject = 'dataset' AND d.retired_at IS NULL AND o.owner <> coalesce(p.owner, '')
  AND (p.is_declared OR (d.dataset_key, o.owner) IN ({FOREIGN_OWNERS}))
ORDER BY d.namespace, d.name, o.owner LIMIT :most
"""  # noqa: S608 - our own tables


def find_claims(reader: CatalogReader) -> Iterator[Finding]:
    """Return claims of names and drops, then tiers and owners, that events cannot decide."""
    for row in reader.rows(_REJECTED, {"most": _MOST}):
        yield _claim(row)
    for namespace, name, tag, tier, origin in reader.rows(_TAGS, {"most": _MOST}):
        if tag in TIERS and TIERS.index(tag) < TIERS.index(tier):
            text = f"a tags facet says tier {tag}; the tier is {tier} ({origin}): a tag raises none"
            line = [tier_line((namespace, name), tag)]
            yield _finding(TIER_TAG, (namespace, name), text, policy=line)
    for namespace, name, owner, known in reader.rows(_OWNERS, {"most": _MOST}):
        text = f"an ownership facet names {owner[:80]!r}; the owner in force: {known or 'none'}"
        yield _finding(OWNER_FACET, (namespace, name), text)


def _claim(row: Row) -> Finding:
    claimed, dataset = (row.namespace, row.name), (str(row.other_namespace), str(row.other_name))
    claim = {
        "symlink": f"is another name of {join_parts(*dataset)}",
        "rename": f"was renamed to {join_parts(*dataset)}",
    }.get(row.rule, "was dropped")
    more = f" and {row.claims - 1} more" if row.claims > 1 else ""
    by = row.job_namespace
    who = f"job namespace {by}{more}" if by else f"an event without a run{more}"
    at = f"{from_micros(row.last_at):%Y-%m-%dT%H:%MZ}"
    text = f"{who} reports that it {claim}, last at {at}; rejected"
    line = [apart_line(claimed, dataset)] if row.rule != "drop" and is_expressible(claimed) else []
    return _finding(CLAIM, claimed, text, names=[claimed, dataset], policy=line)


def _finding(
    kind: str,
    dataset: tuple[str, str],
    evidence: str,
    *,
    names: list[tuple[str, str]] | None = None,
    policy: list[str] | None = None,
) -> Finding:
    named = dict.fromkeys(names or [dataset])
    return Finding(
        kind=kind,
        dataset_namespace=dataset[0],
        dataset=dataset[1],
        evidence=evidence,
        count=len(named),
        names=[LintName(*name, None) for name in named],
        policy=policy or [],
    )
