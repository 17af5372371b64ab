"""Policy of each dataset, stored in the catalog and renewed when something changed.

Tiers are handed up by the graph functions of `lineage`, never by joins repeated in Spark.
"""

from collections import defaultdict
from collections.abc import Collection
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Engine, bindparam, delete, select, text, update

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.grown_tables import analyze_grown
from lineage.catalog.meta_keys import POLICY_FINGERPRINT
from lineage.catalog.queries import LISTED, NO_TIER, rank_of
from lineage.catalog.upsert import fold_rows
from lineage.policy import Policy, PolicyDecision, resolve_names, suppressions_of
from lineage.policy.resolution import declared_edges
from lineage.policy.tiers import HandedTiers, hand_up, tier_edges, tiering_of
from lineage.states import TIERS, Tier
from slis.cadence.working_time import plan_of
from slis.evaluation.dataset_owners import Owners, load_owners
from slis.evaluation.policy_edges import Edges, PolicyEdges, rarely_read_datasets
from slis.evaluation.policy_memory import (
    PolicyMemory,
    RememberedPolicies,
    count_edges,
    describe_inputs,
    follow_policies,
)
from slis.evaluation.policy_tiers import PolicyTiers, load_tier_tags, lower_by_tag, tier_columns
from slis.meta import put_meta, read_meta

_DATASETS = f"SELECT dataset_key, namespace, name FROM dataset WHERE {LISTED}"  # noqa: S608 - a constant
# What else a dataset is called: reported as one, or claimed to be another name of it.
_OTHER_NAMES = """
    SELECT canonical_key, namespace, name FROM dataset WHERE canonical_key <> dataset_key
    UNION SELECT d.canonical_key, a.namespace, a.name FROM dataset_alias a
        JOIN dataset d ON d.dataset_key = a.dataset_key
        WHERE a.rule IN ('symlink', 'policy') AND NOT EXISTS (
            SELECT 1 FROM dataset o WHERE o.dataset_key = a.alias_key)
    ORDER BY 1, 2, 3
"""
_EDGES = "SELECT upstream_key, downstream_key, job_key, runs FROM edge"
_RANKED = f"""
    UPDATE dataset SET tier_rank = p.rank FROM (
        SELECT d.dataset_key AS of_dataset, {rank_of("q.tier", TIERS, NO_TIER)} AS rank
        FROM dataset d LEFT JOIN dataset_policy q ON q.dataset_key = d.dataset_key) AS p
    WHERE dataset_key = p.of_dataset AND tier_rank <> p.rank
"""  # noqa: S608 - constants only
_Names = dict[int, tuple[str, str]]


class CatalogFacts(msgspec.Struct, frozen=True):
    """Facts of the catalog beside the policy."""

    names: _Names
    edges: Edges
    tier_tags: dict[int, Tier]
    owners: Owners
    other_names: dict[int, list[tuple[str, str]]] = msgspec.field(default_factory=dict)


class ResolvedPolicies(NamedTuple):
    """Rows of `dataset_policy`, one per dataset, and the tiers as they were handed up."""

    rows: list[dict[str, object]]
    handed: HandedTiers


def renew_policies(
    engine: Engine,
    policy: Policy,
    memory: PolicyMemory | None = None,
    changed: Collection[int] = (),
) -> bool:
    """Bring `dataset_policy` up to date; a look at a few counts when nothing changed.

    Args:
        engine: of the catalog.
        policy: in force.
        memory: of this process; None: a new edge resolves everything.
        changed: the datasets that have changed since the last call with this memory.

    Returns:
        Whether anything was computed again.
    """
    with engine.connect() as connection:
        described_by = describe_inputs(connection, policy)
        known = read_meta(connection, POLICY_FINGERPRINT)
    # Another process may have resolved them by another policy in between.
    is_ours = known is not None and known.startswith(f"{described_by} ")
    last = memory.last if memory else None
    followed = None
    if last and last.described_by == described_by and is_ours:
        followed = follow_policies(engine, last, changed)
    if followed is not None:
        return followed
    fingerprint = f"{described_by} {count_edges(engine)}"
    if known == fingerprint and memory is None:
        return False
    described = _described(engine, policy)
    rows, handed = resolve_policies(policy, described)
    with exclusive_transaction(engine) as connection:
        _replace(connection, rows)
        put_meta(connection, {POLICY_FINGERPRINT: fingerprint})
    if memory is not None:
        tiers = PolicyTiers(handed, declared_edges(policy))
        memory.last = RememberedPolicies(described_by, PolicyEdges(described.edges), tiers)
    return True


def _described(engine: Engine, policy: Policy) -> CatalogFacts:
    with engine.connect() as connection:

        def ask(query: str) -> list[Any]:
            return [tuple(row) for row in connection.execute(text(query))]

        tags = load_tier_tags(connection)
        names = {key: (namespace, name) for key, namespace, name in ask(_DATASETS)}
        others: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
        for key, namespace, name in ask(_OTHER_NAMES):
            others[key].append((namespace, name))
        owners = load_owners(connection, policy)
        return CatalogFacts(names, ask(_EDGES), tags, owners, others)


def resolve_policies(policy: Policy, described: CatalogFacts) -> ResolvedPolicies:
    """Resolve the policy of each dataset."""
    decisions = {at: _decision(policy, described, at) for at in described.names}
    handed = _handed_tiers(policy, described, decisions)
    by_the_way = rarely_read_datasets(described.edges)
    rows = [
        {
            "dataset_key": at,
            **_tier(described, handed, at, is_declared=decision.is_declared),
            **_owner(decision, described.owners, at),
            "is_source": decision.source,
            "is_generated": decision.generated,
            "is_streaming": decision.streaming,
            "is_declared": decision.is_declared,
            "is_regulated": decision.regulated,
            "is_expected": decision.is_declared or at not in by_the_way,
            "declared_limit_seconds": decision.limit_seconds,
            "plan": _plan(policy, decision, described.names[at]),
        }
        for at, decision in decisions.items()
    ]
    return ResolvedPolicies(rows, handed)


def _decision(policy: Policy, described: CatalogFacts, at: int) -> PolicyDecision:
    names = [described.names[at], *described.other_names.get(at, ())]
    return resolve_names(policy, names)


def _handed_tiers(
    policy: Policy, described: CatalogFacts, decisions: dict[int, PolicyDecision]
) -> HandedTiers:
    declared = {at: decision.tier for at, decision in decisions.items() if decision.tier}
    seen = [(upstream, downstream, runs) for upstream, downstream, _, runs in described.edges]
    return hand_up(declared, tier_edges(seen, declared_edges(policy)))


def _tier(
    described: CatalogFacts, handed: HandedTiers, at: int, *, is_declared: bool
) -> dict[str, object]:
    """Return the tier of a dataset: by the policy, else by its downstream datasets and its tag."""
    own = tiering_of(handed.get(at))
    lowered = lower_by_tag(own, described.tier_tags.get(at), is_declared=is_declared)
    return tier_columns(lowered, described.names)


def _plan(policy: Policy, decision: PolicyDecision, name: tuple[str, str]) -> str | None:
    # What is written in maintenance that comes every night is what there is to learn from.
    suppressions = [one.name for one in suppressions_of(policy, *name) if one.once]
    return plan_of(policy, decision.calendar, suppressions)


def _owner(decision: PolicyDecision, owners: Owners, at: int) -> dict[str, object]:
    """Return the owner of a dataset, and where the name comes from.

    In this order: the policy's rule for the dataset, the policy's rule for the job that wrote it,
    an event, Kubernetes. To what the policy names outright only the first gives an owner: which
    job wrote a dataset is known from events, which anybody may send.
    """
    by_policy = decision.owner or (None if decision.is_declared else owners.of_jobs.get(at))
    if by_policy or decision.is_declared:
        return {"owner": by_policy, "owner_origin": "policy" if by_policy else None}
    if of_event := owners.of_events.get(at):
        return {"owner": of_event, "owner_origin": "facet"}
    of_cluster = owners.of_cluster.get(at)
    return {"owner": of_cluster, "owner_origin": "kubernetes" if of_cluster else None}


def _replace(connection: Connection, rows: list[dict[str, object]]) -> None:
    table = tables.dataset_policy
    known = {row["dataset_key"]: dict(row) for row in connection.execute(select(table)).mappings()}
    gone = known.keys() - {row["dataset_key"] for row in rows}
    changed = [row for row in rows if known.get(row["dataset_key"]) != row]
    if gone:
        connection.execute(
            delete(table).where(table.c.dataset_key == bindparam("gone")),
            [{"gone": at} for at in gone],
        )
    fold_rows(connection, table, changed)
    rank_tiers(connection)
    replanned = [
        {"at": row["dataset_key"]}
        for row in changed
        if known.get(row["dataset_key"], {}).get("plan") != row["plan"]
    ]
    if replanned:
        # What was learned by another calendar is learned again.
        activity = tables.dataset_activity
        statement = update(activity).where(activity.c.dataset_key == bindparam("at"))
        connection.execute(statement.values(learned_writes=0), replanned)


def rank_tiers(connection: Connection) -> None:
    """Rank each dataset by the tier that it has."""
    analyze_grown(connection)  # a first policy is of all datasets
    connection.execute(text(_RANKED))
