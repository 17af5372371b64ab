"""Counters of good, total and unknown by (SLI, tier, tier_origin): they only ever grow."""

import uuid
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, select

from lineage.catalog import tables
from lineage.states import ACCURACY, EDGE_COMPLETENESS
from slis.dataset_states import Row
from slis.stream.upsert import added, fold_rows, insert_for

EPOCH = "catalog_epoch"
EDGES_EVALUATED_AT = "edges_evaluated_at"
OF_EDGES = (EDGE_COMPLETENESS.id, ACCURACY.id)  # judged apart, once a minute


def epoch(connection: Connection) -> str:
    """The catalog's counter epoch: a new catalog begins one; a restored one is given another."""
    meta = tables.meta
    fresh = {"name": EPOCH, "value": uuid.uuid4().hex[:8]}
    insert = insert_for(connection.dialect)(meta).on_conflict_do_nothing()
    connection.execute(insert, fresh)
    return str(connection.scalar(select(meta.c.value).where(meta.c.name == EPOCH)))


def edges_evaluated_at(connection: Connection) -> int:
    """When the edges were judged last, in microseconds; 0 before they ever were."""
    meta = tables.meta.c
    found = connection.scalar(select(meta.value).where(meta.name == EDGES_EVALUATED_AT))
    return int(found or 0)


def count(sli: str, tier: str, origin: str, amounts: Sequence[float]) -> Row:
    """A row to be added: dataset-seconds, or events."""
    good, total, unknown = amounts
    labels = {"sli": sli, "tier": tier, "tier_origin": origin}
    return {**labels, "good": good, "total": total, "unknown": unknown}


def add_to_counters(connection: Connection, counts: Iterable[Row]) -> None:
    """Counters only ever grow: what is added is never below 0."""
    sums: dict[tuple[str, str, str], list[float]] = {}
    for row in counts:
        held = sums.setdefault((row["sli"], row["tier"], row["tier_origin"]), [0.0, 0.0, 0.0])
        for place, name in enumerate(("good", "total", "unknown")):
            held[place] += max(0.0, row[name])
    at_epoch = epoch(connection)
    rows = [{**count(*labels, held), "epoch": at_epoch} for labels, held in sums.items()]
    fold_rows(
        connection, tables.sli_counter, rows, dict.fromkeys(("good", "total", "unknown"), added)
    )
