"""Good, total and unknown by SLI and tier: counters, and the corrected history by hour.

Counters only ever grow. The history by hour is corrected: an event that comes late amends the hour
that it belongs to, up to 7 days back; a read that was counted without an origin is amended when
that origin turns up.
"""

import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import Connection, text

from lineage.catalog import tables
from lineage.catalog.meta_keys import CATALOG_EPOCH
from lineage.catalog.upsert import add_up, fold_rows
from lineage.process.clock import HOUR_MICROS, to_micros
from lineage.states import ACCURACY, EDGE_COMPLETENESS, MISSING_PROVENANCE
from slis.evaluation.dataset_states import FrameRow
from slis.meta import put_meta_once

OF_EDGES = (EDGE_COMPLETENESS.id, ACCURACY.id)  # judged apart, once a minute
Amount = tuple[float, float, float]  # good, total, unknown
AMOUNT_NAMES = ("good", "total", "unknown")
_Key = TypeVar("_Key")

AMENDABLE = timedelta(days=7)
Place = tuple[str, str, int]  # SLI, tier, start of an hour in microseconds
Amounts = dict[Place, Amount]

# Reads counted without an origin whose dataset has since reported a write before them.
_ORIGIN_FOUND = """
    SELECT r.dataset_key, r.root_run_id, r.bucket, r.read_at, p.tier
    FROM dataset_read r JOIN dataset_policy p ON p.dataset_key = r.dataset_key
    WHERE r.outcome = 'bad' AND r.read_at >= :since AND r.counted_at >= :since
    AND r.dataset_key IN (SELECT dataset_key FROM dataset_write WHERE landed_at > :previous)
    AND EXISTS (SELECT 1 FROM dataset_write w
        WHERE w.dataset_key = r.dataset_key AND w.written_at < r.read_at)
"""
# An hour in which nobody evaluated has no seconds that a late write could turn good.
_WITHIN_TOTAL = """
    UPDATE sli_hour SET good = CASE WHEN good > total THEN total ELSE 0 END
    WHERE hour >= :earliest AND (good > total OR good < 0)
"""
_MARK_GOOD = """
    UPDATE dataset_read SET outcome = 'good'
    WHERE dataset_key = :dataset_key AND root_run_id = :root_run_id AND bucket = :bucket
"""


def counter_epoch(connection: Connection) -> str:
    """Return the catalog's counter epoch: a new or a restored catalog begins one."""
    return put_meta_once(connection, CATALOG_EPOCH, uuid.uuid4().hex[:8])


def counter_row(sli: str, tier: str, origin: str, amounts: Amount) -> FrameRow:
    """Return a row to be added: dataset-seconds, or events."""
    labels = {"sli": sli, "tier": tier, "tier_origin": origin}
    return labels | dict(zip(AMOUNT_NAMES, amounts, strict=True))


def add_to_counters(connection: Connection, counts: Iterable[FrameRow]) -> None:
    """Add amounts to the counters, which only grow: an amount is never below 0."""
    sums: dict[tuple[str, str, str], Amount] = {}
    for row in counts:
        grown = {name: max(0.0, row[name]) for name in AMOUNT_NAMES}
        add_amounts(sums, (row["sli"], row["tier"], row["tier_origin"]), amounts_of(grown))
    at_epoch = counter_epoch(connection)
    rows = [{**counter_row(*labels, held), "epoch": at_epoch} for labels, held in sums.items()]
    fold_rows(connection, tables.sli_counter, rows, dict.fromkeys(AMOUNT_NAMES, add_up))


def amounts_of(row: Mapping[str, Any], weight: float = 1.0) -> Amount:
    """Return the amount of a tally or count, times `weight`."""
    return row["good"] * weight, row["total"] * weight, row["unknown"] * weight


def add_amounts(amounts: dict[_Key, Amount], key: _Key, more: Amount) -> None:
    """Add to what the key has."""
    held = amounts.get(key, (0.0, 0.0, 0.0))
    amounts[key] = (held[0] + more[0], held[1] + more[1], held[2] + more[2])


def hour_of(instant: datetime) -> int:
    """Return the start of a time's hour, in microseconds."""
    return to_micros(instant) // HOUR_MICROS * HOUR_MICROS


def add_to_hours(connection: Connection, as_of: datetime, *sources: Amounts) -> None:
    """Add what was counted and what is amended; hours over 7 days back stay as they are."""
    earliest = hour_of(as_of - AMENDABLE)
    names = ("sli", "tier", "hour", *AMOUNT_NAMES)
    rows = [
        dict(zip(names, (*at, *amounts), strict=True))
        for source in sources
        for at, amounts in source.items()
        if at[2] >= earliest and any(amounts)
    ]
    if not rows:
        return
    fold_rows(connection, tables.sli_hour, rows, dict.fromkeys(AMOUNT_NAMES, add_up))
    connection.execute(text(_WITHIN_TOTAL), {"earliest": earliest})


def origins_found(connection: Connection, as_of: datetime, previous: datetime) -> Amounts:
    """Amend reads that were counted bad and turn out to have had an origin.

    Bounded by what landed since the last evaluation: only datasets written since are looked at.
    """
    since = to_micros(as_of - AMENDABLE)
    at = {"since": since, "previous": to_micros(previous)}
    found = connection.execute(text(_ORIGIN_FOUND), at).mappings().all()
    amounts: Amounts = {}
    for row in found:
        place = (MISSING_PROVENANCE.id, row["tier"], row["read_at"] // HOUR_MICROS * HOUR_MICROS)
        add_amounts(amounts, place, (1.0, 0.0, 0.0))
    if found:
        keys = ("dataset_key", "root_run_id", "bucket")
        connection.execute(text(_MARK_GOOD), [{name: row[name] for name in keys} for row in found])
    return amounts
