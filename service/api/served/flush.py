"""Adds what was served to the sums in the catalog."""

from sqlalchemy import Connection, Engine

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.upsert import add_up, fold_rows
from lineage.states import ALL_TIERS
from service.api.served.counter_buffer import CountBatch, CounterBuffer

_AMOUNTS = ("good", "total", "unknown")


def flush_counts(engine: Engine, tallies: CounterBuffer) -> None:
    """Add all that waits; what could not be written waits on.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: the catalog is away.
    """
    batch = tallies.take()
    if not batch:
        return
    try:
        with write_transaction(engine) as connection:
            add(connection, batch)
    except BaseException:
        tallies.add(batch)
        raise


def add(connection: Connection, batch: CountBatch) -> None:
    """Add a batch inside a transaction: counters never fall, and are never corrected."""
    hours: dict[tuple[str, int], list[float]] = {}
    for (sli, hour, outcome), count in batch.outcomes.items():
        _sum(hours.setdefault((sli, hour), [0.0, 0.0, 0.0]), outcome, count)
    totals: dict[str, list[float]] = {}
    for (sli, _), amounts in hours.items():
        held = totals.setdefault(sli, [0.0, 0.0, 0.0])
        totals[sli] = [one + other for one, other in zip(held, amounts, strict=True)]
    folds = dict.fromkeys(_AMOUNTS, add_up)
    named = {"tier": ALL_TIERS, "tier_origin": "default"}
    counters = [{"sli": sli, **named, **_named(held)} for sli, held in totals.items()]
    fold_rows(connection, tables.served_counter, counters, folds)
    by_hour = [
        {"sli": sli, "tier": ALL_TIERS, "hour": hour, **_named(amounts)}
        for (sli, hour), amounts in hours.items()
    ]
    fold_rows(connection, tables.served_hour, by_hour, folds)
    _add_figures(connection, batch)


def _add_figures(connection: Connection, batch: CountBatch) -> None:
    labels = ("metric", "backend", "query", "le")
    buckets = [
        {**dict(zip(labels, at, strict=True)), "value": value}
        for at, value in batch.buckets.items()
    ]
    fold_rows(connection, tables.served_bucket, buckets, {"value": add_up})
    counts = [
        {"metric": metric, "label": label, "value": float(value)}
        for (metric, label), value in batch.counts.items()
    ]
    fold_rows(connection, tables.served_count, counts, {"value": add_up})


def _sum(amounts: list[float], outcome: str, count: int) -> None:
    if outcome == "unknown":
        amounts[2] += count
        return
    amounts[0] += count if outcome == "good" else 0
    amounts[1] += count


def _named(amounts: list[float]) -> dict[str, float]:
    return dict(zip(_AMOUNTS, amounts, strict=True))
