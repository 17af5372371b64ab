"""Inputs that policies were resolved from last: in the catalog, and in the memory of a process."""

from collections.abc import Collection
from hashlib import sha256

import msgspec
from sqlalchemy import Connection, Engine, text

from lineage.catalog.engine import exclusive_transaction
from lineage.policy import Policy
from lineage.policy.tiers import MIN_RUNS
from slis.evaluation.dataset_owners import list_changes
from slis.evaluation.policy_edges import PolicyEdges, change_expected, find_expected_changes
from slis.evaluation.policy_tiers import PolicyTiers, change_tiers, find_tier_changes

# One dataset that is retired while another is written again leaves their count as it was.
_CHANGES = """
    SELECT count(*), count(retired_at), max(retired_at),
        count(CASE WHEN canonical_key <> dataset_key THEN 1 END),
        (SELECT count(*) FROM tag), (SELECT count(*) FROM ownership),
        (SELECT count(*) FROM attribute_claim), (SELECT count(*) FROM dataset_producer),
        (SELECT count(*) FROM dataset_alias WHERE rule IN ('symlink', 'policy')),
        sum(CASE WHEN canonical_key <> dataset_key THEN canonical_key % 1000003 END)
    FROM dataset
"""
_EDGE_CHANGES = f"""
    SELECT count(*), count(CASE WHEN runs >= {MIN_RUNS} THEN 1 END) FROM edge
"""  # noqa: S608 - a constant


class RememberedPolicies(msgspec.Struct, frozen=True):
    """Inputs of the last resolution of policies, and the tiers that it handed up.

    Attributes:
        described_by: fingerprint of all but the edges.
    """

    described_by: str
    edges: PolicyEdges
    tiers: PolicyTiers


class PolicyMemory:
    """Memory of a process: the last resolution of the policies of datasets."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self.last: RememberedPolicies | None = None


def describe_inputs(connection: Connection, policy: Policy) -> str:
    """Return what identifies all inputs but the edges."""
    counts = list(connection.execute(text(_CHANGES)).one())
    writers = sha256(repr(list_changes(connection, policy)).encode())
    return f"{policy.hash} {counts} {writers.hexdigest()}"


def count_edges(engine: Engine) -> list[int]:
    """Return what identifies the edges; all of a large graph are read for it."""
    with engine.connect() as connection:
        return list(connection.execute(text(_EDGE_CHANGES)).one())


def follow_policies(
    engine: Engine, last: RememberedPolicies, changed: Collection[int]
) -> bool | None:
    """Bring tiers and what is expected up to date where edges changed.

    Args:
        engine: of the catalog.
        last: the last resolution, by the same inputs but edges.
        changed: the datasets that have changed since.

    Returns:
        Whether anything is another; None: everything must be resolved.
    """
    with engine.connect() as connection:
        if (followed := last.edges.follow(connection, changed)) is None:
            return None
        expected = find_expected_changes(connection, followed.upstreams)
        reached = last.tiers.follow(followed.deciding, last.edges)
        tiers = find_tier_changes(connection, last.tiers.handed, reached)
    if expected or tiers:
        with exclusive_transaction(engine) as connection:
            if expected:
                change_expected(connection, expected)
            if tiers:
                change_tiers(connection, tiers)
    return bool(expected or tiers)
