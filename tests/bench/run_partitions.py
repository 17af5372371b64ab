"""Cost of a merge beside half a year of runs in partitions, in a PostgreSQL of its own.

Run by hand, `python -m tests.bench.run_partitions [EVENTS [STORED [BATCH]]]`. STORED runs lie in
each of seven ranges of 30 days; all new runs have one day. BATCH is the number of events of a
batch; 0: as the pipeline chooses it. It prints the CPU time of the session, and what it costs to
delete the runs of the oldest range. It asserts nothing.
"""

import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import Engine, text

from lab.bench.catalogs import CatalogMeter
from lineage.catalog.deleting import delete_old_rows
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.partitions import add_partition, add_partitions
from lineage.catalog.retention import RANGES
from lineage.process.clock import from_micros, system_clock, to_micros
from lineage.process.logs import log_to_stderr
from slis.made_up_events import fill_spool, make_events
from slis.settings import PipelineSettings, SharedPaths
from slis.stream.landing import BatchLanding
from slis.stream.log.spool_reader import BatchLimits
from tests.bench.merge_statements import StatementMeter
from tests.bench.partition_merges import catalog

_OLDER: Final = 6
_KEPT: Final = timedelta(days=180)
_APART: Final = timedelta(milliseconds=1)
_SHOWN: Final = 6
_TABLES: Final = ("run", "run_io")
_RUNS: Final = """
    INSERT INTO run (run_key, day, run_id, job_namespace, job_name, root_run_id, root_job_namespace,
        root_job_name, first_event_at, last_event_at, started_at, completed_at, is_history,
        landed_at)
    SELECT hashint8extended(n, :day), :day, 'aaaaaaaa-bbbb-' || :day || '-' || n, 'ns',
        'job_' || n % 500,
        'aaaaaaaa-bbbb-' || :day || '-' || n, 'ns', 'job_' || n % 500, n, :day, n, n, false, n
    FROM generate_series(1, :rows) n
"""
_IO: Final = """
    INSERT INTO run_io (run_key, day, dataset_key, direction, first_event_at, last_event_at,
        has_statistics, is_reported, landed_at)
    SELECT hashint8extended(n, :day), :day, hashint8extended(n % 5000, 77), direction, n,
        :day, false, true, n
    FROM generate_series(1, :rows) n, unnest(ARRAY['read', 'write']) direction
"""


def main(count: int = 100_000, stored: int = 200_000, batch: int = 0) -> None:
    """Print what the merges cost, and what the deletion of one range does."""
    log_to_stderr("warning")
    with catalog() as engine:
        oldest = _fill(engine, stored)
        _land(engine, count, batch)
        _delete(engine, stored, oldest)


def _fill(engine: Engine, stored: int) -> int:
    """Return the start of the oldest range."""
    now, span = system_clock(), RANGES["run"].micros
    add_partitions(engine, now, exclusive_transaction)
    starts = [RANGES["run"].start_of(to_micros(now)) - n * span for n in range(_OLDER + 1)]
    for start in starts:
        for table in _TABLES:
            add_partition(engine, table, start, exclusive_transaction)
        with engine.begin() as connection:
            for sql in (_RUNS, _IO):
                connection.execute(text(sql), {"rows": stored, "day": start})
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM ANALYZE run, run_io")
        connection.exec_driver_sql("CHECKPOINT")
    return starts[-1]


def _land(engine: Engine, count: int, batch: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = SharedPaths(data_dir=Path(name), catalog_url=str(engine.url))
        start = system_clock() - count * _APART
        fill_spool(place.spool, make_events(count, seed=1, start=start, apart=_APART))
        limits = BatchLimits(batch or PipelineSettings().max_rows, PipelineSettings().max_bytes)
        meter, server = StatementMeter(engine), CatalogMeter(engine)
        BatchLanding(
            engine, place, limits=limits, clock=system_clock, landed=lambda _: None
        ).work_off()
    for statement, spent in meter.spent.most_common(_SHOWN):
        print(f"{spent / count / 1e3:7.2f} {statement}")  # noqa: T201 - its output
    print(  # noqa: T201 - its output
        f"merge: {meter.spent.total() / count / 1e3:.1f} µs an event of the session,"
        f" {(server.cpu_seconds() or 0.0) / count * 1e6:.1f} of the whole server,"
        f" {(server.wal_bytes() or 0) / count:.0f} bytes of write-ahead log"
    )


def _delete(engine: Engine, stored: int, oldest: int) -> None:
    """Delete the runs of one range, as retention does once it is over."""
    over = from_micros(oldest + RANGES["run"].micros) + _KEPT
    server, began = CatalogMeter(engine), time.monotonic()
    for table in _TABLES:
        delete_old_rows(engine, table, over, {"write_days": _KEPT.days}, exclusive_transaction)
    cpu = (server.cpu_seconds() or 0.0) / stored * 1e6
    print(  # noqa: T201 - its output
        f"deletion: {time.monotonic() - began:.2f} s, {cpu:.2f} µs a run of the whole server,"
        f" {(server.wal_bytes() or 0) / stored:.0f} bytes of write-ahead log a run"
    )


if __name__ == "__main__":
    main(*(int(each) for each in sys.argv[1:]))
