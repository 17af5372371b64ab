"""What a dataset affects: all that is made of it, with whom to tell."""

import msgspec

from lineage.catalog.reader import Reader, Row, rows_for
from lineage.states import TIERS
from service.access.sight import EVERYTHING, Sight
from service.answers.datasets import states_of
from service.answers.moments import Evaluated, iso, seconds_between
from service.answers.named import Dataset
from service.answers.run_shapes import Instant
from service.answers.walk import MOST_DEPTH, NEXT, Steps, walked

_NAMED = """
SELECT d.dataset_key, d.namespace, d.name, COALESCE(p.tier, 'optional'), p.owner
FROM dataset d LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
WHERE d.dataset_key IN (:keys) AND d.retired_at IS NULL
"""
_PAGE = """
SELECT i.incident_id, i.fault_at, i.accepted_at
FROM incident_member m JOIN incident i ON i.incident_id = m.incident_id
WHERE m.dataset_key = :key AND m.left_at IS NULL AND i.severity = 'page'
AND i.state IN ('open', 'acknowledged')
ORDER BY i.opened_at, i.incident_id LIMIT 1
"""


class AffectedRow(msgspec.Struct, frozen=True):
    """A dataset that is made of the one asked for, so many steps away."""

    dataset_namespace: str
    dataset: str
    tier: str
    owner: str | None
    state: str
    depth: int


class Impact(msgspec.Struct, frozen=True):
    """What is made of a dataset, the highest tier first.

    While the dataset is in an incident that pages: which, when the fault was there, when Slack or
    PagerDuty took a message that links the full list, and how long that took.
    """

    dataset_namespace: str
    dataset: str
    state: str
    affected: list[AffectedRow]
    hidden: int  # datasets next to these that the one who asks may not see
    incident_id: str | None
    fault_at: Instant | None
    accepted_at: Instant | None
    analysis_seconds: float | None
    partial: bool
    partial_reason: str | None


def impact(
    reader: Reader,
    named: Dataset,
    evaluated: Evaluated,
    sight: Sight = EVERYTHING,
    *,
    depth: int = MOST_DEPTH,
) -> Impact:
    """All that is made of this dataset now, to the end; partial past what a walk may hold."""
    key, namespace, name = named
    walk = walked(Steps(reader, NEXT["downstream"], sight), key, depth)
    depths = walk.depths()
    states = states_of(reader, list(depths), evaluated)
    rows = rows_for(reader, _NAMED, [one for one in depths if one != key])
    affected = [
        AffectedRow(row[1], row[2], row[3], row[4], states[row[0]], depths[row[0]]) for row in rows
    ]
    page: Row = next(iter(reader.rows(_PAGE, {"key": key})), (None, None, None))
    return Impact(
        dataset_namespace=namespace,
        dataset=name,
        state=states[key],
        affected=sorted(affected, key=_gravity),
        hidden=len(set().union(*walk.hidden.values())),
        incident_id=page[0],
        fault_at=iso(page[1]),
        accepted_at=iso(page[2]),
        analysis_seconds=seconds_between(page[1], page[2]),
        partial=walk.cut is not None,
        partial_reason=walk.cut,
    )


def _gravity(row: AffectedRow) -> tuple[int, int, str, str]:
    tier = [*TIERS, row.tier].index(row.tier)
    return tier, row.depth, row.dataset_namespace, row.dataset
