"""Metrics of the collector: one registry, read at `/metrics`."""

from collections.abc import Iterator
from typing import Protocol

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from collector.retention import SpoolRetention
from collector.spool_file import Losses
from lineage.process.clock import SECOND_MICROS


class SpoolFigures(Protocol):
    """Figures of the spool that its metrics need."""

    retention: SpoolRetention
    losses: Losses | None


disable_created_metrics()  # type: ignore[no-untyped-call]

REGISTRY = CollectorRegistry()

EVENTS = Counter(
    "lineage_collector_events",
    "Events stored durably: new (stored) or byte-identical repeats (duplicate).",
    ["outcome"],
    registry=REGISTRY,
)
REJECTED = Counter(
    "lineage_collector_refused",
    "Requests and events rejected, by the reason returned to the sender.",
    ["reason"],
    registry=REGISTRY,
)
IGNORED_HEADERS = Counter(
    "lineage_collector_ignored_headers",
    "Reserved headers received from senders that may not send them.",
    ["header"],
    registry=REGISTRY,
)
DUPLICATE_KEYS = Counter(
    "lineage_collector_duplicate_keys",
    "Duplicate JSON keys in accepted events; the last value is used.",
    registry=REGISTRY,
)
COMMIT_SECONDS = Histogram(
    "lineage_collector_commit_seconds",
    "Duration of a group commit of the spool, fsync included.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5),
    registry=REGISTRY,
)
COMMIT_FAILURES = Counter(
    "lineage_collector_commit_failures",
    "Group commits rolled back: disk full, spool full, failed fsync.",
    registry=REGISTRY,
)
STARTED = Gauge(
    "lineage_collector_started_timestamp_seconds",
    "Start time of this worker; a change means that the worker was replaced.",
    registry=REGISTRY,
)
IN_FLIGHT = Gauge(
    "lineage_collector_in_flight_bytes",
    "Bytes of request bodies in progress.",
    registry=REGISTRY,
)
PRUNE_FAILURES = Counter(
    "lineage_collector_prune_failures",
    "Failed reads of the readers' cursors from the catalog; nothing was pruned.",
    registry=REGISTRY,
)


class SpoolRoom(Collector):
    """Fill level of the spool: absent until its writer has looked, or a reader's place is known."""

    spool: SpoolFigures | None = None

    def describe(self) -> list[Metric]:
        """Return no metrics: a value that is not known yet has no series."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the figures as the writer last saw them, at most a second ago."""
        if self.spool is None:
            return
        name = "lineage_collector_spool"
        if (losses := self.spool.losses) is not None:
            text = "Upper bound of unread events that the spool lost through damage."
            yield CounterMetricFamily(f"{name}_lost_events", text, losses.lost_events)
            text = "Time at which the spool was last found damaged or incomplete."
            at = losses.last_at / SECOND_MICROS
            yield GaugeMetricFamily(f"{name}_damaged_timestamp_seconds", text, at)
        if (room := self.spool.retention.room) is None:
            return
        yield GaugeMetricFamily(f"{name}_bytes", "Bytes in the spool.", room.used_bytes)
        yield GaugeMetricFamily(
            f"{name}_max_bytes",
            "Maximum bytes of the spool; beyond it the collector answers 503.",
            room.max_bytes,
        )
        if (waiting := self.spool.retention.waiting_events) is not None:
            text = "Events in the spool that the pipeline has not processed."
            yield GaugeMetricFamily(f"{name}_waiting_events", text, waiting)


SPOOL = SpoolRoom()
REGISTRY.register(SPOOL)
