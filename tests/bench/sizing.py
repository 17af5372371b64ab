"""Needs of an installation by the cost of an event: arithmetic of docs/scale.md."""

from collections.abc import Iterator
from typing import Final

import msgspec

from lab.bench.pipeline import BacklogCost

EVENTS_A_DAY: Final = (10**6, 10**7, 10**8, 10**9)
PEAK: Final = 5  # times the mean
MEASURED_RATE: Final = 1_000.0  # a second, of `lineward bench pipeline`
_DAY_SECONDS, _MICROS, _GB = 86_400, 1e6, 1e9
# Share of the catalog's bytes: `event` is kept for 7 days (tests/bench/catalog_bytes.py).
_EVENT_BYTES, _EVENT_DAYS = 117.0, 7


def steady_cores(rate: float, *, at_measured_rate: float, microseconds: float) -> float:
    """Return the cores at a steady rate: a fixed part for the batches, and one for each event.

    Args:
        rate: of events, a second.
        at_measured_rate: cores measured at `MEASURED_RATE`.
        microseconds: of an event in a backlog, whose batches are large.
    """
    fixed = at_measured_rate - MEASURED_RATE * microseconds / _MICROS
    return fixed + rate * microseconds / _MICROS


class Need(msgspec.Struct, frozen=True):
    """Need of one rate of events: cores at the mean rate and at its peak.

    Attributes:
        events_per_second: at the mean.
        pipeline_cores: of driver and executors, without evaluations.
        postgres_cores: of the server, likewise.
        turn: share of the time in which a batch merges; above 1 the backlog grows.
        peak_turn: the same at the peak.
        catalog_gb_a_day: written for good.
        catalog_gb: with the days of the settings.
        wal_mb_per_second: written to the log of the server, at the peak.
    """

    events_a_day: float
    events_per_second: float
    pipeline_cores: float
    peak_pipeline_cores: float
    postgres_cores: float
    peak_postgres_cores: float
    turn: float
    peak_turn: float
    catalog_gb_a_day: float
    catalog_gb: float
    wal_mb_per_second: float


def needs(cost: BacklogCost, write_days: int = 180) -> Iterator[Need]:
    """Yield the needs of each rate, by the cost of an event on PostgreSQL."""
    for events in EVENTS_A_DAY:
        rate = events / _DAY_SECONDS
        pipeline = rate * cost.cpu_microseconds / _MICROS
        server = rate * (cost.server_cpu_microseconds or 0.0) / _MICROS
        turn = rate * cost.merge_microseconds / _MICROS
        kept = cost.catalog_bytes - _EVENT_BYTES
        total = events * (kept * write_days + _EVENT_BYTES * _EVENT_DAYS)
        yield Need(
            events_a_day=float(events),
            events_per_second=rate,
            pipeline_cores=pipeline,
            peak_pipeline_cores=PEAK * pipeline,
            postgres_cores=server,
            peak_postgres_cores=PEAK * server,
            turn=turn,
            peak_turn=PEAK * turn,
            catalog_gb_a_day=events * kept / _GB,
            catalog_gb=total / _GB,
            wal_mb_per_second=PEAK * rate * (cost.wal_bytes or 0.0) / _MICROS,
        )
