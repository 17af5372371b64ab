"""Time that batches wait and drops take when retention drops ranges of time.

Run by hand, `python -m tests.bench.dropped_partitions [ROWS [TABLE]]`: drops three days of so
many events each, and a range of as many writes, in a PostgreSQL of its own, while a batch of 1,000
events and 300 writes lands each 50 ms. It asserts nothing.
"""

import statistics
import sys
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import Engine, text

from lineage.catalog.deleting import delete_old_rows
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.partitions import add_partition, add_partitions
from lineage.catalog.retention import RANGES
from lineage.catalog.tables import dataset_write, event
from lineage.catalog.upsert import fold_rows
from lineage.process.clock import from_micros, system_clock, to_micros
from slis.settings import PipelineSettings
from tests.bench.partition_merges import WRITES, catalog, run

_DAY = timedelta(days=1)
_DATASETS = 19_000  # datasets: a range keeps one write of each
_AGES = {"event": (8, 9, 10), "dataset_write": (270,)}  # of the ranges, in days
_FLAGS = "false, false, false"
EVENTS = f"""
    INSERT INTO event (event_time, event_key, landed_at, last_seq, is_streaming, is_history,
        is_skewed)
    SELECT :first + CAST((:last - :first) * (n / CAST(:rows AS DOUBLE PRECISION)) AS BIGINT),
        n, :last, n / 25000, {_FLAGS}
    FROM generate_series(0, :rows - 1) n
"""  # noqa: S608 - likewise
_DATASET_ROWS = f"""
    INSERT INTO dataset (dataset_key, namespace, name, canonical_key, first_seen_at, last_seen_at)
    SELECT n, 'bench', 'd' || n, n, 0, :now FROM generate_series(0, {_DATASETS} - 1) n
"""  # noqa: S608 - likewise


def main(rows: str = "10000000", *tables: str) -> None:
    """Print the times of batches and of drops while ranges with so many rows are dropped."""
    now = system_clock()
    with catalog() as engine:
        add_partitions(engine, now, exclusive_transaction)
        with engine.begin() as connection:
            connection.execute(text(_DATASET_ROWS), {"now": to_micros(now)})
        for table in tables or _AGES:
            ages = _AGES[table]
            starts = [RANGES[table].start_of(to_micros(now - age * _DAY)) for age in ages]
            size = sum(_fill(engine, table, start, int(rows)) for start in starts)
            print(f"{table}: {len(ages)} x {int(rows):,} rows, {size / 2**30:.2f} GiB")  # noqa: T201
            report("before", batches(engine, lambda: time.sleep(10)))
            began = time.perf_counter()
            beside = batches(engine, lambda: _clear(engine, table, now))  # noqa: B023 - at once
            print(f"  over in {time.perf_counter() - began:.2f} s")  # noqa: T201 - its output
            report("meanwhile", beside)


def _fill(engine: Engine, table: str, start: int, rows: int) -> int:
    """Fill the range that begins then; return the bytes of its partition."""
    name = add_partition(engine, table, start, exclusive_transaction)
    last = from_micros(start + RANGES[table].micros) - timedelta(hours=1)
    sql = {"event": EVENTS, "dataset_write": WRITES.format(datasets=_DATASETS)}[table]
    with engine.begin() as connection:
        run(connection, sql, from_micros(start), last, rows)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"VACUUM ANALYZE {name}"))
        connection.execute(text("CHECKPOINT"))
        return int(connection.scalar(text(f"SELECT pg_total_relation_size('{name}')")) or 0)


def report(name: str, waits: list[float]) -> None:
    """Print the times of batches."""
    median, longest = statistics.median(waits), max(waits)
    print(  # noqa: T201 - its output
        f"  batches {name}: {len(waits)}, median {median:.3f} s, longest {longest:.3f} s"
    )


def _clear(engine: Engine, table: str, now: datetime) -> None:
    delete_old_rows(engine, table, now, PipelineSettings().days, exclusive_transaction)


def batches(engine: Engine, work: Callable[[], None]) -> list[float]:
    """Return the seconds of each batch that landed while `work` ran."""
    taken: list[float] = []
    is_over = threading.Event()
    flags = dict.fromkeys(("is_streaming", "is_history"), False)
    job = {"job_key": 1, "job_namespace": "bench", "job_name": "j", "names_input": True}

    def land() -> None:
        while not is_over.is_set():
            base = to_micros(system_clock())
            stored = {"landed_at": base, "last_seq": base, "is_skewed": False, **flags}
            rows = [{"event_time": base - n, "event_key": n, **stored} for n in range(1_000)]
            stored = {"written_at": base, "landed_at": base, "is_reported": True, **job, **flags}
            keys = {"root_run_id": f"r{base}", "bucket": base // 3_600_000_000 * 3_600_000_000 + 1}
            writes = [{"dataset_key": n, **keys, **stored} for n in range(300)]
            began = time.perf_counter()
            with exclusive_transaction(engine) as connection:
                fold_rows(connection, event, rows)
                fold_rows(connection, dataset_write, writes)
            taken.append(time.perf_counter() - began)
            time.sleep(0.05)

    thread = threading.Thread(target=land)
    thread.start()
    work()
    is_over.set()
    thread.join()
    return taken


if __name__ == "__main__":
    main(*sys.argv[1:])
