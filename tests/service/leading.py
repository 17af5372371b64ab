"""A replica in a process of its own: it writes its name while it leads, as quickly as it can.

Arguments: the URL of the catalog, its name, and how many seconds a lease lasts.
"""

import signal
import sys
import threading
import time

from sqlalchemy import Engine, insert

from lineage.catalog.engine import writing
from lineage.catalog.tables import meta
from service.bookkeeping import Bookkeeper
from service.leader import Leader, LeaderWorks


def replica(url: str, name: str, seconds: float) -> list[Bookkeeper]:
    """What a service starts for its lease, and one work of the leader."""

    def write(engine: Engine) -> None:
        with writing(engine) as connection:
            row = {"name": f"{name} {time.time_ns()}", "value": name}
            connection.execute(insert(meta), row)

    leader = Leader(name, seconds)
    often = {"every_seconds": 0.02}
    return [
        Bookkeeper(url, [leader], name="lease", is_first=True, **often),
        Bookkeeper(url, LeaderWorks(leader, lambda: [write]), name="work", **often),
    ]


def main() -> None:
    """Run until SIGTERM, and hand over."""
    url, name, seconds = sys.argv[1:]
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    keepers = replica(url, name, float(seconds))
    for keeper in keepers:
        keeper.start()
    stopped.wait()
    for keeper in reversed(keepers):
        keeper.stop()


if __name__ == "__main__":
    main()
