"""Whom an incident hurts: all that was made of its root's datasets at its onset."""

import msgspec

from lineage.catalog.reader import Reader
from service.access.sight import EVERYTHING, Sight
from service.answers.datasets import states_of
from service.answers.moments import Evaluated

_AFFECTED = """
SELECT i.dataset_key, d.namespace, d.name, COALESCE(p.tier, 'optional'), p.owner, i.hops
FROM incident_impact i JOIN dataset d ON d.dataset_key = i.dataset_key
LEFT JOIN dataset_policy p ON p.dataset_key = i.dataset_key
WHERE i.incident_id = :id
ORDER BY CASE p.tier WHEN 'critical' THEN 0 WHEN 'important' THEN 1 ELSE 2 END, i.hops,
  d.namespace, d.name LIMIT :most
"""


class Hurt(msgspec.Struct, frozen=True):
    """A dataset that hangs on the root, so many steps away, and how it is now."""

    dataset_namespace: str
    dataset: str
    tier: str
    owner: str | None
    hops: int
    state: str


def affected(
    reader: Reader, incident_id: str, evaluated: Evaluated, sight: Sight = EVERYTHING, *, limit: int
) -> tuple[list[Hurt], bool]:
    """The highest tier first, of what may be seen; whether there are more than `limit`."""
    rows = reader.rows(_AFFECTED, {"id": incident_id, "most": limit + 1})
    seen = [row for row in rows[:limit] if sight.sees(row[1])]
    states = states_of(reader, [row[0] for row in seen], evaluated)
    hurt = [
        Hurt(namespace, name, tier, owner, hops, states[key])
        for key, namespace, name, tier, owner, hops in seen
    ]
    return hurt, len(rows) > limit
