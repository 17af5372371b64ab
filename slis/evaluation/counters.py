"""Counters of good, total and unknown by (SLI, tier, tier_origin): they only ever grow."""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from sqlalchemy import Connection

from lineage.catalog import tables
from lineage.catalog.meta_keys import EPOCH
from lineage.catalog.upsert import add_up, fold_rows
from lineage.states import ACCURACY, EDGE_COMPLETENESS
from slis.evaluation.dataset_states import Row
from slis.meta import put_meta_once

OF_EDGES = (EDGE_COMPLETENESS.id, ACCURACY.id)  # judged apart, once a minute
Amount = tuple[float, float, float]  # good, total, unknown
AMOUNT_NAMES = ("good", "total", "unknown")
_Key = TypeVar("_Key")


def epoch(connection: Connection) -> str:
    """Return the catalog's counter epoch: a new or a restored catalog begins one."""
    return put_meta_once(connection, EPOCH, uuid.uuid4().hex[:8])


def count(sli: str, tier: str, origin: str, amounts: Amount) -> Row:
    """Row to be added: dataset-seconds, or events."""
    labels = {"sli": sli, "tier": tier, "tier_origin": origin}
    return labels | dict(zip(AMOUNT_NAMES, amounts, strict=True))


def add_to_counters(connection: Connection, counts: Iterable[Row]) -> None:
    """Counters only ever grow: what is added is never below 0."""
    sums: dict[tuple[str, str, str], Amount] = {}
    for row in counts:
        grown = {name: max(0.0, row[name]) for name in AMOUNT_NAMES}
        add_amounts(sums, (row["sli"], row["tier"], row["tier_origin"]), amounts_of(grown))
    at_epoch = epoch(connection)
    rows = [{**count(*labels, held), "epoch": at_epoch} for labels, held in sums.items()]
    fold_rows(connection, tables.sli_counter, rows, dict.fromkeys(AMOUNT_NAMES, add_up))


def amounts_of(row: Mapping[str, Any], weight: float = 1.0) -> Amount:
    """Return the amount of a tally or count, times `weight`."""
    return row["good"] * weight, row["total"] * weight, row["unknown"] * weight


def add_amounts(amounts: dict[_Key, Amount], key: _Key, more: Amount) -> None:
    """Add to what the key has."""
    held = amounts.get(key, (0.0, 0.0, 0.0))
    amounts[key] = (held[0] + more[0], held[1] + more[1], held[2] + more[2])
