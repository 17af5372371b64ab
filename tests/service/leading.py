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
from service.runtime.leader import Leader, LeaderWorks
from service.runtime.periodic import PeriodicWorker


def replica(url: str, name: str, seconds: float) -> list[PeriodicWorker]:
    """Start what a service starts for its lease, and one work of the leader."""

    def write(engine: Engine) -> None:
        with write_transaction(engine) as connection:
            fence = fence_of(engine)
            assert fence is not None
            row = {"name": f"{name} {time.time_ns()}", "value": f"{name} {fence.epoch}"}
            connection.execute(insert(meta), row)

    leader = Leader(name, seconds)
    often = {"every_seconds": 0.02}
    return [
        PeriodicWorker(url, [leader], name="lease", is_first=True, **often),
        PeriodicWorker(url, LeaderWorks(leader, lambda: [write]), name="work", **often),
    ]


@contextmanager
def running(keepers: list[PeriodicWorker]) -> Iterator[None]:
    """Run them, and hand over at the end."""
    for keeper in keepers:
        keeper.start()
    try:
        yield
    finally:
        for keeper in reversed(keepers):
            keeper.stop()


def main() -> None:
    """Run until SIGTERM, and hand over."""
    url, name, seconds = sys.argv[1:]
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    with running(replica(url, name, float(seconds))):
        stopped.wait()


if __name__ == "__main__":
    main()
