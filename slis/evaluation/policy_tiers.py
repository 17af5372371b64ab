"""Tiers of datasets after edges that decide tiers came: of those alone that the edges reach."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Row, text

from lineage.catalog.queries import LISTED
from lineage.names.names import Name
from lineage.policy.tiers import HandedTiers, Tiering, hand_up_new, tiering_of
from lineage.states import TIERS, Tier
from slis.evaluation.policy_edges import PolicyEdges
from slis.key_queries import in_parts

_TIER_TAGS = "SELECT dataset_key, lower(value) AS tier FROM tag WHERE lower(tag) = 'tier'"
_IN_ORDER = "ORDER BY dataset_key, tag, value"  # the last one counts
_NAMES = f"SELECT dataset_key, namespace, name FROM dataset WHERE {LISTED} AND dataset_key IN :keys"  # noqa: S608 - a constant
_KNOWN = """
    SELECT dataset_key, tier, tier_origin, tier_reason, is_declared FROM dataset_policy
    WHERE dataset_key IN :keys
"""
_CHANGE = """
    UPDATE dataset_policy SET tier = :tier, tier_origin = :tier_origin, tier_reason = :tier_reason
    WHERE dataset_key = :dataset_key
"""
_RANK = "UPDATE dataset SET tier_rank = :rank WHERE dataset_key = :dataset_key"


class PolicyTiers:
    """Tiers as they were handed up when policies were resolved last, and by what they are."""

    def __init__(self, handed: HandedTiers, declared_edges: Iterable[tuple[int, int]]) -> None:
        """Remember both."""
        self.handed = handed
        self._declared: dict[int, list[int]] = {}
        for upstream, downstream in declared_edges:
            self._declared.setdefault(downstream, []).append(upstream)

    def follow(self, new_edges: Iterable[tuple[int, int]], edges: PolicyEdges) -> set[int]:
        """Hand tiers up along new edges, which are in `edges`; return the datasets they reach."""

        def upstreams_of(key: int) -> list[int]:
            return [*edges.deciding_upstreams(key), *self._declared.get(key, ())]

        return hand_up_new(self.handed, new_edges, upstreams_of)


def load_tier_tags(connection: Connection, keys: Collection[int] | None = None) -> dict[int, Tier]:
    """Return the tiers that tags name; None: of all datasets."""
    rows: Iterable[Row[Any]]
    if keys is None:
        rows = connection.execute(text(f"{_TIER_TAGS} {_IN_ORDER}"))
    else:
        rows = in_parts(connection, f"{_TIER_TAGS} AND dataset_key IN :keys {_IN_ORDER}", keys)
    return {row.dataset_key: row.tier for row in rows if row.tier in TIERS}


def lower_by_tag(tiering: Tiering, tag: Tier | None, *, is_declared: bool) -> Tiering:
    """Return the tier of a dataset with a tag.

    Anybody who sends events may send a tag: so a tag lowers the dataset's own inherited tier, and
    raises none. What the policy names outright no tag touches.
    """
    if tag is None or tiering.origin != "inherited" or is_declared:
        return tiering
    lower = max(tag, tiering.tier, key=TIERS.index)
    return tiering if lower == tiering.tier else Tiering(lower, "tag")


def tier_columns(tiering: Tiering, names: Mapping[int, Name]) -> dict[str, Any]:
    """Return the columns of `dataset_policy` on a tier."""
    origin = names.get(tiering.inherited_from) if tiering.inherited_from is not None else None
    reason = " ".join(origin) if origin else None
    return {"tier": tiering.tier, "tier_origin": tiering.origin, "tier_reason": reason}


def find_tier_changes(
    connection: Connection, tiers: HandedTiers, keys: Collection[int]
) -> list[dict[str, Any]]:
    """Return the columns of these datasets on tiers, where the catalog has others."""
    tags = load_tier_tags(connection, keys)
    origins = {tiers[key].origin for key in keys}
    named = in_parts(connection, _NAMES, origins)
    names = {row.dataset_key: (row.namespace, row.name) for row in named}
    changes = []
    for row in in_parts(connection, _KNOWN, keys):
        tag, handed = tags.get(row.dataset_key), tiering_of(tiers[row.dataset_key])
        columns = tier_columns(lower_by_tag(handed, tag, is_declared=row.is_declared), names)
        if any(getattr(row, name) != value for name, value in columns.items()):
            changes.append({"dataset_key": row.dataset_key, **columns})
    return changes


def change_tiers(connection: Connection, changes: Collection[Mapping[str, Any]]) -> None:
    """Write what `find_tier_changes` returned, and the rank of each dataset in lists."""
    connection.execute(text(_CHANGE), list(changes))
    ranks = [
        {"dataset_key": row["dataset_key"], "rank": TIERS.index(row["tier"])} for row in changes
    ]
    connection.execute(text(_RANK), ranks)
