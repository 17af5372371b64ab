"""Bytes of each table of a catalog on PostgreSQL for an event.

Run by hand, `python -m tests.bench.catalog_bytes [EVENTS]`: lands made-up events of Spark's
listener in an empty catalog, and prints the bytes of rows and indexes an event. It asserts nothing.
"""

import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from sqlalchemy import Engine, text

from lab.bench.pipeline import open_landing
from lineage.catalog.engine import migrate, open_catalog
from lineage.process.clock import system_clock
from slis.made_up_events import fill_spool, make_events
from slis.settings import SharedPaths
from tests.suite.postgres_server import running_postgres

_APART = timedelta(milliseconds=1)
# Count a partition as a part of its table.
_SIZES = """
    SELECT coalesce(i.inhparent, c.oid)::regclass::text AS name,
        sum(pg_table_size(c.oid)), sum(pg_indexes_size(c.oid))
    FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
    GROUP BY 1 ORDER BY 2 DESC
"""
_LEAST_BYTES = 1.0


def main(count: int) -> None:
    """Land the events, and print the bytes of each table."""
    with tempfile.TemporaryDirectory() as name, running_postgres() as server:
        place = SharedPaths(data_dir=Path(name), catalog_url=server.url)
        engine = open_catalog(server.url)
        migrate(engine)
        start = system_clock() - count * _APART
        fill_spool(place.spool, make_events(count, seed=1, start=start, apart=_APART))
        began = time.perf_counter()
        open_landing(engine, place).work_off()
        seconds = time.perf_counter() - began
        _print(engine, count)
        sys.stdout.write(f"{count:,} events landed in {seconds:.1f} s\n")
        engine.dispose()


def _print(engine: Engine, count: int) -> None:
    with engine.connect() as connection:
        sizes = [
            (name, int(rows), int(indexes))
            for name, rows, indexes in connection.execute(text(_SIZES))
        ]
    for name, rows, indexes in sizes:
        if (rows + indexes) / count >= _LEAST_BYTES:
            sys.stdout.write(f"{name:20} {rows / count:8.1f} {indexes / count:8.1f}\n")
    rows, indexes = (sum(size[n] for size in sizes) for n in (1, 2))
    sys.stdout.write(f"{'all':20} {rows / count:8.1f} {indexes / count:8.1f}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)
