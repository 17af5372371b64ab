"""Impact of a dataset: all downstream datasets, with their owners."""

import msgspec

from lineage.catalog.queries import IS_OPEN
from lineage.graph.walks import Walk
from lineage.states import TIER_RANKS
from service.queries.catalog_session import CatalogSession
from service.queries.dataset_lookup import KnownDataset
from service.queries.run_shapes import IsoTime
from service.queries.timestamps import iso, seconds_between
from service.queries.walk import (
    MOST_DEPTH,
    all_named,
    name_nodes,
    states_of_nodes,
    tier_and_owner_of,
    walk_lineage,
)

_PAGE = f"""
SELECT i.incident_id, i.fault_at, i.accepted_at
FROM incident_member m JOIN incident i ON i.incident_id = m.incident_id
WHERE m.dataset_key = :key AND m.left_at IS NULL AND i.severity = 'page' AND i.{IS_OPEN}
ORDER BY i.opened_at, i.incident_id LIMIT 1
"""  # noqa: S608 - a constant


class AffectedRow(msgspec.Struct, frozen=True):
    """Downstream dataset, and its distance in steps."""

    dataset_namespace: str
    dataset: str
    tier: str
    owner: str | None
    state: str
    depth: int


class Impact(msgspec.Struct, frozen=True):
    """Downstream datasets of a dataset, highest tier first.

    While the dataset is in an incident that pages: which, when the fault was there, when a channel
    accepted a message that links the full list, and how long that took.
    """

    dataset_namespace: str
    dataset: str
    state: str
    affected: list[AffectedRow]
    hidden: int  # datasets next to these that the one who asks may not see
    incident_id: str | None
    fault_at: IsoTime | None
    accepted_at: IsoTime | None
    analysis_seconds: float | None
    partial: bool
    partial_reason: str | None


def find_impact(asked: CatalogSession, dataset: KnownDataset, *, depth: int = MOST_DEPTH) -> Impact:
    """Return all downstream datasets; partial if a walk may hold no more."""
    key, namespace, name = dataset
    walk = walk_lineage(asked, "downstream", [key], depth)
    page = next(iter(asked.reader.rows(_PAGE, {"key": key})), None)
    fault_at, accepted_at = (page.fault_at, page.accepted_at) if page else (None, None)
    return Impact(
        dataset_namespace=namespace,
        dataset=name,
        state=states_of_nodes(asked, [key])[0],
        affected=_affected(asked, walk),
        hidden=len(set().union(*walk.hidden.values())),
        incident_id=page.incident_id if page else None,
        fault_at=iso(fault_at),
        accepted_at=iso(accepted_at),
        analysis_seconds=seconds_between(fault_at, accepted_at),
        partial=walk.cut is not None,
        partial_reason=walk.cut,
    )


def _affected(asked: CatalogSession, walk: Walk) -> list[AffectedRow]:
    """Sort affected datasets that still exist by tier, then by distance."""
    keys = walk.keys[1:]
    names, states = all_named(keys, name_nodes(asked, keys)), states_of_nodes(asked, keys)
    rows = zip(tier_and_owner_of(asked, keys), walk.depths()[1:], names, states, strict=True)
    # Sorted as they are, of which no two have one name: a key of each took twice as long.
    found = sorted(
        (TIER_RANKS[policy[0]], depth, *name, *policy, state)
        for policy, depth, name, state in rows
        if policy is not None
    )
    return [
        AffectedRow(namespace, dataset, tier, owner, state, depth)
        for _, depth, namespace, dataset, tier, owner, state in found
    ]
