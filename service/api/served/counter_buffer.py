"""Counts since they were last stored: in memory, so that no response waits for a write.

A process that is killed loses what it had not written down: a second's worth.
"""

import threading
from collections import Counter

import msgspec
from sqlalchemy import Connection, Engine

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.upsert import add_up, fold_rows
from lineage.process.clock import HOUR_MICROS
from lineage.states import ALL_TIERS, Sli

QUERY_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
IMPACT_BOUNDS = (1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3_600.0, 86_400.0)

CountedOutcome = str  # good | bad | unknown

_AMOUNTS = ("good", "total", "unknown")


class Series(msgspec.Struct, frozen=True):
    """Labels of one histogram, and its bounds in seconds."""

    metric: str
    backend: str
    query: str
    bounds: tuple[float, ...] = QUERY_BOUNDS


class CountBatch(msgspec.Struct):
    """Counts to add to the catalog's sums.

    Attributes:
        outcomes: by SLI id, hour (start in µs) and outcome: how many.
        buckets: by metric, backend, query and bound: how many, cumulative; under `sum` the seconds.
        counts: by metric and label.
    """

    outcomes: Counter[tuple[str, int, CountedOutcome]] = msgspec.field(default_factory=Counter)
    buckets: dict[tuple[str, str, str, str], float] = msgspec.field(default_factory=dict)
    counts: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)

    def __bool__(self) -> bool:
        """Return whether there is anything to add."""
        return bool(self.outcomes or self.buckets or self.counts)

    def count(self, sli: Sli, at: int, outcome: CountedOutcome) -> None:
        """Count one event of this SLI at that time, in µs."""
        self.outcomes[sli.id, at // HOUR_MICROS * HOUR_MICROS, outcome] += 1

    def observe(self, series: Series, seconds: float) -> None:
        """Add one measurement to this histogram."""
        marks = [str(bound) for bound in series.bounds if seconds <= bound]
        for le, value in (*((mark, 1.0) for mark in marks), ("+Inf", 1.0), ("sum", seconds)):
            at = (series.metric, series.backend, series.query, le)
            self.buckets[at] = self.buckets.get(at, 0.0) + value
        # A bound that nothing was under yet stands at 0, or the histogram would lack it.
        for bound in series.bounds:
            self.buckets.setdefault((series.metric, series.backend, series.query, str(bound)), 0.0)

    def add(self, other: "CountBatch") -> None:
        """Add all counts of another batch."""
        self.outcomes.update(other.outcomes)
        self.counts.update(other.counts)
        for at, value in other.buckets.items():
            self.buckets[at] = self.buckets.get(at, 0.0) + value


class CounterBuffer:
    """Buffer of counts that wait to be stored. Safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting = CountBatch()

    def add(self, batch: CountBatch) -> None:
        """Have it written down with the next."""
        with self._lock:
            self._waiting.add(batch)

    def take(self) -> CountBatch:
        """Return and remove the waiting counts; the caller stores them, or adds them again."""
        with self._lock:
            taken, self._waiting = self._waiting, CountBatch()
            return taken


def flush_counts(engine: Engine, counts: CounterBuffer) -> None:
    """Add all that waits; what could not be written waits on.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: the catalog is away.
    """
    batch = counts.take()
    if not batch:
        return
    try:
        with write_transaction(engine) as connection:
            add_batch(connection, batch)
    except BaseException:
        counts.add(batch)
        raise


def add_batch(connection: Connection, batch: CountBatch) -> None:
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
