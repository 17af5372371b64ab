"""What of the bad is in an open incident: that has told of itself, and burns no alert besides."""

from typing import Final

from sqlalchemy import Connection, text

from lineage.catalog import tables
from lineage.catalog.upsert import added, fold_rows
from lineage.states import COVERAGE, FRESHNESS, NODE_COMPLETENESS

_CURSOR: Final = "explained"
_SLIS: Final = (COVERAGE, FRESHNESS, NODE_COMPLETENESS)
# As the counters do: of a longer pause nothing is known.
_SECONDS = """
    SELECT sum(CASE WHEN as_of - previous_as_of < 60000000 THEN as_of - previous_as_of
        ELSE 60000000 END) / 1e6, max(as_of)
    FROM evaluation WHERE as_of > :after AND previous_as_of IS NOT NULL
"""
_BAD = """
    SELECT s.sli, CASE WHEN s.sli = 'M3a' THEN 'regulated' ELSE p.tier END, count(*)
    FROM dataset_state s JOIN dataset_policy p ON p.dataset_key = s.dataset_key
    WHERE s.state = 'bad' AND s.sli IN ('M1', 'M2', 'M3a') AND EXISTS (
        SELECT 1 FROM incident_member m JOIN incident i ON i.incident_id = m.incident_id
        WHERE m.dataset_key = s.dataset_key AND m.left_at IS NULL
        AND i.state IN ('open', 'acknowledged', 'suppressed'))
    GROUP BY 1, 2
"""
_AFTER = "SELECT position FROM service_cursor WHERE name = :name"


def count_explained(connection: Connection) -> None:
    """Add the time of the evaluations since, in dataset-seconds; in a write transaction.

    Every series is there from the beginning, at 0: one that comes with its first value has not
    grown, as Prometheus sees it.
    """
    after = connection.scalar(text(_AFTER), {"name": _CURSOR})
    seconds, last = connection.execute(text(_SECONDS), {"after": after or 0}).one()
    if last is None:
        return
    amounts = dict.fromkeys(((sli.id, tier) for sli in _SLIS for tier in sli.tiers), 0.0)
    for sli, tier, datasets in connection.execute(text(_BAD)):
        amounts[sli, tier] = datasets * float(seconds)
    rows = [{"sli": sli, "tier": tier, "value": value} for (sli, tier), value in amounts.items()]
    fold_rows(connection, tables.sli_explained, rows, {"value": added})
    moved = {"name": _CURSOR, "position": last}
    fold_rows(connection, tables.service_cursor, [moved])
