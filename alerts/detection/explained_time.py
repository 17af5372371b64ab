"""Counters of bad time that an open incident explains, which burns no error budget in alerts."""

from typing import Final

from sqlalchemy import Connection, text

from lineage.catalog import tables
from lineage.catalog.queries import IS_UNRESOLVED
from lineage.catalog.upsert import add_up, fold_rows, lock_row
from lineage.process.clock import SECOND_MICROS
from lineage.sli_limits import MAX_COUNTED_SECONDS
from lineage.states import EXPLAINED_SLIS, FAILING, NODE_COMPLETENESS, REGULATED

_CURSOR: Final = "explained"
_MAX_COUNTED: Final = round(MAX_COUNTED_SECONDS * SECOND_MICROS)
_IDS: Final = ", ".join(f"'{sli.id}'" for sli in EXPLAINED_SLIS)
_LAST = "SELECT max(as_of) FROM evaluation WHERE as_of > :after AND previous_as_of IS NOT NULL"
# Of each evaluation what was bad by then, in an incident that was open before it: after a pause of
# the service nothing is explained that turned bad since. Of a pause of evaluations only a minute
# counts, as in the counters.
_BAD = f"""
    SELECT s.sli, CASE WHEN s.sli = '{NODE_COMPLETENESS.id}'
            THEN '{REGULATED}' ELSE p.tier END,
        sum(CASE WHEN e.as_of - e.previous_as_of < {_MAX_COUNTED} THEN e.as_of - e.previous_as_of
            ELSE {_MAX_COUNTED} END) / 1e6
    FROM evaluation e JOIN dataset_state s ON s.since <= e.as_of
    JOIN dataset_policy p ON p.dataset_key = s.dataset_key
    WHERE e.as_of > :after AND e.as_of <= :last AND e.previous_as_of IS NOT NULL
    AND s.state = 'bad' AND s.sli IN ({_IDS}) AND EXISTS (
        SELECT 1 FROM incident_member m JOIN incident i ON i.incident_id = m.incident_id
        WHERE m.dataset_key = s.dataset_key AND m.left_at IS NULL AND m.kind <> '{FAILING}'
        AND m.joined_at < e.as_of AND i.opened_at < e.as_of
        AND i.{IS_UNRESOLVED})
    GROUP BY 1, 2
"""  # noqa: S608 - constants
_AFTER = "SELECT position FROM service_cursor WHERE name = :name"


def count_explained(connection: Connection) -> None:
    """Add the time of the evaluations since, in dataset-seconds; in a write transaction.

    Every series is there from the beginning, at 0: one that comes with its first value has not
    grown, as Prometheus sees it.
    """
    lock_row(connection, tables.service_cursor, {"name": _CURSOR, "position": 0})
    after = connection.scalar(text(_AFTER), {"name": _CURSOR})
    last = connection.scalar(text(_LAST), {"after": after or 0})
    if last is None:
        return
    amounts = dict.fromkeys(((sli.id, tier) for sli in EXPLAINED_SLIS for tier in sli.tiers), 0.0)
    for sli, tier, seconds in connection.execute(text(_BAD), {"after": after or 0, "last": last}):
        amounts[sli, tier] = float(seconds)
    rows = [{"sli": sli, "tier": tier, "value": value} for (sli, tier), value in amounts.items()]
    fold_rows(connection, tables.sli_explained, rows, {"value": add_up})
    moved = {"name": _CURSOR, "position": last}
    fold_rows(connection, tables.service_cursor, [moved])
