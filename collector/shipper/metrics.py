"""Metrics of the shipper, and the port on which it answers whether it is alive and ready."""

import math
import sqlite3
from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    disable_created_metrics,
    make_wsgi_app,
)

from collector.shipper.window import Backlog
from lineage.process import health_port
from lineage.process.clock import SECOND_MICROS, Clock, to_micros

disable_created_metrics()  # type: ignore[no-untyped-call]

REGISTRY = CollectorRegistry()
RECORDS = Counter(
    "lineage_shipper_records",
    "Records of the spool that Kafka has acknowledged.",
    registry=REGISTRY,
)
FAILURES = Counter(
    "lineage_shipper_failures",
    "Attempts to ship a window that failed; the window is sent again.",
    registry=REGISTRY,
)
_WAITING = Gauge(
    "lineage_shipper_waiting_events",
    "Events in the spool that Kafka has not acknowledged.",
    registry=REGISTRY,
)
_LAG = Gauge(
    "lineage_shipper_lag_seconds",
    "Age of the oldest event that Kafka has not acknowledged; 0 if none waits.",
    registry=REGISTRY,
)


def measure(read_backlog: Callable[[], Backlog], clock: Clock) -> None:
    """Read what waits at each scrape: also while Kafka is waited for."""

    def waiting() -> float:
        try:
            return float(read_backlog().events)
        except sqlite3.Error:
            return math.nan

    _WAITING.set_function(waiting)
    _LAG.set_function(lambda: lag_seconds(read_backlog, clock))


def lag_seconds(read_backlog: Callable[[], Backlog], clock: Clock) -> float:
    """Return the age of the oldest event that waits; NaN where the spool cannot be read."""
    try:
        since = read_backlog().since
    except sqlite3.Error:
        return math.nan
    return 0.0 if since is None else max(0.0, (to_micros(clock()) - since) / SECOND_MICROS)


def serve(host: str, port: int, find_problem: Callable[[], str | None]) -> int:
    """Answer `/livez`, `/readyz` and `/metrics` in threads; return the port.

    Args:
        host: address to listen on.
        port: 0: any that is free.
        find_problem: says why nothing is shipped now; None: the shipper works.

    Raises:
        OSError: the address is taken.
    """
    checks = {"/livez": lambda: None, "/readyz": find_problem}
    return health_port.serve(host, port, checks, make_wsgi_app(REGISTRY))
