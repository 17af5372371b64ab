"""The shipper's metrics, and the port on which it answers whether it is alive and ready."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, make_wsgi_app

from lineage import health_port

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
WAITING = Gauge(
    "lineage_shipper_waiting_events",
    "Events in the spool that Kafka has not acknowledged.",
    registry=REGISTRY,
)
LAG = Gauge(
    "lineage_shipper_lag_seconds",
    "Age of the oldest event in the spool that Kafka has not acknowledged; 0 where none waits.",
    registry=REGISTRY,
)


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
