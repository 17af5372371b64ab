"""The impact list of a dataset: all that is made of it, with whom to tell."""

import msgspec
import numpy as np
from sqlalchemy import Connection, bindparam, text

from lineage.catalog.pieces import pieces
from lineage.graph import Closure
from lineage.states import TIERS

MOST_LISTED = 200
_MOST_LOOKED_UP = 5_000  # of the nearest: their tiers decide which are listed
_NAMED = text(
    """
    SELECT d.dataset_key, d.namespace, d.name, COALESCE(p.tier, 'optional'), p.owner
    FROM dataset d LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
    WHERE d.dataset_key IN :keys AND d.retired_at IS NULL
    """
).bindparams(bindparam("keys", expanding=True))


class Affected(msgspec.Struct, frozen=True):
    """A dataset that is made of the one at fault, so many steps away."""

    dataset_namespace: str
    dataset: str
    tier: str
    owner: str | None
    depth: int


class ImpactList(msgspec.Struct, frozen=True):
    """How many are affected, and the gravest of them; `partial`: there are more."""

    affected: int
    listed: list[Affected]
    partial: bool


def impact_list(connection: Connection, closure: Closure) -> ImpactList:
    """The list of a closure downstream: the highest tier first, of these the nearest."""
    depths = dict(
        zip(closure.keys[1:].tolist(), np.asarray(closure.depths)[1:].tolist(), strict=True)
    )
    keys = list(depths)[:_MOST_LOOKED_UP]
    found: list[Affected] = []
    for piece in pieces(keys):
        rows = connection.execute(_NAMED, {"keys": piece})
        found += [
            Affected(namespace, name, tier, owner, depths[key])
            for key, namespace, name, tier, owner in rows
        ]
    retired = len(keys) - len(found)
    affected = len(depths) - retired
    listed = sorted(found, key=_gravity)[:MOST_LISTED]
    return ImpactList(affected, listed, closure.partial or affected > len(listed))


def _gravity(one: Affected) -> tuple[int, int, str, str]:
    tier = [*TIERS, one.tier].index(one.tier)
    return tier, one.depth, one.dataset_namespace, one.dataset
