"""Time that batches wait while a stored catalog is upgraded to partitions.

Run by hand, `python -m tests.bench.partition_upgrade [ROWS]`: upgrades a catalog of the release
before with so many events, and as many writes, in a PostgreSQL of its own, while a batch of 1,000
events and 300 writes lands each 50 ms. It asserts nothing.
"""

import sys
import time
from datetime import timedelta

from lineage.catalog.engine import migrate
from lineage.process.clock import system_clock
from tests.bench.dropped_partitions import EVENTS, batches, report
from tests.bench.partition_merges import WRITES, catalog, run

_DATASETS = 10_000
_SPANS = {EVENTS: timedelta(days=7), WRITES.format(datasets=_DATASETS): timedelta(days=180)}


def main(rows: int = 10_000_000) -> None:
    """Print how long the upgrade took, and batches before and meanwhile."""
    now = system_clock()
    with catalog("0017") as engine:
        for sql, span in _SPANS.items():
            with engine.begin() as connection:
                run(connection, sql, now - span, now, rows)
        report("before", batches(engine, lambda: time.sleep(10)))
        began = time.perf_counter()
        waits = batches(engine, lambda: migrate(engine))
        print(f"{rows:,} rows each: upgraded in {time.perf_counter() - began:.2f} s")  # noqa: T201
        report("meanwhile", waits)


if __name__ == "__main__":
    main(*(int(each) for each in sys.argv[1:]))
