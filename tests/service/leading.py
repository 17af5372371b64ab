"""Replica in a process of its own: it writes its name and epoch while it leads, all the time.

Arguments: the URL of the catalog, its name, and how many seconds a lease lasts.
"""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, insert

from lineage.catalog.engine import write_transaction
from lineage.catalog.leases import fence_of
from lineage.catalog.tables import meta
from service.runtime.catalog_jobs import CatalogJobs
from service.runtime.leader import Leader
from service.runtime.scheduler import JobRegistry


def replica(url: str, name: str, seconds: float) -> JobRegistry:
    """Start what a service starts for its lease, and one task of the leader."""

    def write(engine: Engine) -> None:
        with write_transaction(engine) as connection:
            fence = fence_of(engine)
            assert fence is not None
            row = {"name": f"{name} {time.time_ns()}", "value": f"{name} {fence.epoch}"}
            connection.execute(insert(meta), row)

    leader = Leader(name, seconds)
    often = {"every_seconds": 0.02, "first_seconds": 0}
    group, registry = CatalogJobs(url, leader).group, JobRegistry("service")
    registry.add(group("lease", ("lease",), lambda: [leader], is_leader_only=False, **often))
    registry.add(
        group("work", ("work",), lambda: [write], is_leader_only=True, runs_at_stop=True, **often)
    )
    return registry


@contextmanager
def running(registry: JobRegistry) -> Iterator[None]:
    """Run its jobs, and hand over at the end."""
    registry.start()
    try:
        yield
    finally:
        registry.stop()


def main() -> None:
    """Run until SIGTERM, and hand over."""
    url, name, seconds = sys.argv[1:]
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    with running(replica(url, name, float(seconds))):
        stopped.wait()


if __name__ == "__main__":
    main()
