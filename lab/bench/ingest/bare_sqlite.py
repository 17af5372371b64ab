"""Limit to compare the collector with: its bodies in bare SQLite, as durable as in the spool.

One process and one thread: the same table, and one commit for as many events as there are
connections. No HTTP, no JSON, no reader.
"""

import hashlib
import itertools
import tempfile
import time
from contextlib import closing
from pathlib import Path

from collector.settings import Limits
from collector.spool_file import open_spool
from lab.bench.ingest import bodies

_COLUMNS = "(body_hash, received_at, origin, kind, body)"


def events_per_second(name: str, *, group: int, seconds: float) -> float:
    """Return how many events of a load are committed in a second, `group` at a time."""
    order = bodies.load(name)
    rows = ", ".join(["(?, ?, 'http', 'run', ?)"] * group)
    sql = f"INSERT OR IGNORE INTO event {_COLUMNS} VALUES {rows}"  # noqa: S608 - a constant
    with tempfile.TemporaryDirectory(prefix="lineward-bench-") as folder:
        path = Path(folder) / "spool.db"
        with closing(open_spool(path, Limits().max_spool_bytes)) as spool:
            started = time.perf_counter()
            for first in itertools.count(0, group):
                elapsed = time.perf_counter() - started
                if elapsed >= seconds:
                    return first / elapsed
                numbers = range(first, first + group)
                events = [order[number % len(order)].event(number) for number in numbers]
                given = ((hashlib.sha256(each).digest(), 0, each) for each in events)
                spool.execute(sql, tuple(itertools.chain.from_iterable(given)))
    raise AssertionError("the loop ends by its time")
