"""Cost of a merge with partitions of half a year of writes, in a PostgreSQL of its own.

Run by hand, `python -m tests.bench.partition_merges DAYS [EVENTS]`: lands made-up events in a
catalog with 2,000,000 writes in partitions of so many days (0: none), and prints what that cost,
and the time of two plans. It asserts nothing.
"""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection, Engine, text
from sqlalchemy.event import listens_for

from lab.bench.catalogs import CatalogMeter
from lab.bench.pipeline import open_landing
from lineage.catalog.engine import migrate, open_catalog
from lineage.process.clock import system_clock, to_micros
from slis.made_up_events import fill_spool, make_events
from slis.settings import SharedPaths
from slis.stream.merge.merge import MergeResult
from tests.lineage.catalog.partitioned import partition_names
from tests.suite.postgres_server import running_postgres

_DAYS = 180
_DAY = timedelta(days=1)
_HOUR = 3_600_000_000
_APART = timedelta(milliseconds=1)
_DATASETS = 10_000
_FLAGS = "false, false, false"
WRITES = f"""
    INSERT INTO dataset_write (dataset_key, root_run_id, bucket, job_key, job_namespace, job_name,
        written_at, landed_at, names_input, is_reported, is_streaming, is_history)
    SELECT n % {{datasets}}, 'root-run-of-some-length-' || n, at / {_HOUR} * {_HOUR} + 1,
        n % {{datasets}}, 'bench', 'job_' || n % 500, at, at, {_FLAGS}, false
    FROM (SELECT n, CAST(:first + (:last - :first) / :rows * n AS BIGINT) AS at
        FROM generate_series(0, :rows - 1) n) AS made
"""  # noqa: S608 - numbers of ours
_QUERIES = {
    "the newest write of a dataset": "SELECT max(written_at) FROM dataset_write"
    " WHERE dataset_key = 77",
    "a write by its key": "SELECT 1 FROM dataset_write WHERE dataset_key = 77"
    " AND root_run_id = 'root-run-of-some-length-77' AND bucket = 1",
}


@contextmanager
def catalog(to: str = "head") -> Iterator[Engine]:
    """Open an empty catalog in a PostgreSQL of its own."""
    with running_postgres() as server:
        engine = open_catalog(server.url)
        migrate(engine, to=to)
        yield engine
        engine.dispose()


def main(days: int, count: int = 100_000, rows: int = 2_000_000) -> None:
    """Print the seconds of merges beside half a year of writes in partitions of so many days."""
    now = system_clock()
    with catalog() as engine:
        with engine.begin() as connection:
            _split(connection, now, days)
            run(connection, WRITES.format(datasets=_DATASETS), now - _DAYS * _DAY, now, rows)
            connection.execute(text("ANALYZE dataset_write"))
        for name, query in _QUERIES.items():
            print(f"{name}: plan and run {_explain(engine, query)}")  # noqa: T201 - its output
        meter, spent = CatalogMeter(engine), _watch(engine)
        merged = _land(engine, now, count)
        cpu = meter.cpu_seconds() or 0.0
        parts = len(partition_names(engine))
    seconds = sum(each.merge_seconds for each in merged)
    print(  # noqa: T201 - its output
        f"{parts} partitions, {count:,} events: {cpu / count * 1e6:.1f} µs of PostgreSQL's CPU an"
        f" event; merges {seconds / count * 1e6:.1f} µs, of which statements on writes"
        f" {spent[True] / count * 1e6:.1f} µs, on others {spent[False] / count * 1e6:.1f} µs"
    )


def _watch(engine: Engine) -> Counter[bool]:
    """Count the seconds of statements from now on, by whether they name `dataset_write`."""
    spent: Counter[bool] = Counter()

    @listens_for(engine, "before_cursor_execute")
    def _begin(connection, *_):  # type: ignore[no-untyped-def]  # noqa: ANN002
        connection.info["began"] = time.perf_counter()

    @listens_for(engine, "after_cursor_execute")
    def _end(connection, _cursor, statement, *_):  # type: ignore[no-untyped-def]  # noqa: ANN002
        spent["dataset_write" in statement] += time.perf_counter() - connection.info["began"]

    return spent


def _split(connection: Connection, now: datetime, days: int) -> None:
    if not days:
        return
    span = days * 86_400_000_000
    first, last = to_micros(now - _DAYS * _DAY) // span * span, to_micros(now + 7 * _DAY)
    for start in range(first, last, span):
        connection.exec_driver_sql(
            f"CREATE TABLE dataset_write_b{start // 86_400_000_000} PARTITION OF dataset_write"
            f" FOR VALUES FROM ({start}) TO ({start + span})"
        )


def run(connection: Connection, sql: str, first: datetime, last: datetime, rows: int) -> None:
    """Insert so many rows with times from first to last."""
    given = {"first": to_micros(first), "last": to_micros(last), "rows": rows}
    connection.execute(text(sql), given)


def _explain(engine: Engine, query: str) -> str:
    with engine.connect() as connection:
        for _ in range(3):
            plan = list(connection.scalars(text(f"EXPLAIN (ANALYZE, SUMMARY) {query}")))
    return ", ".join(line.strip() for line in plan if "Time:" in line)


def _land(engine: Engine, now: datetime, count: int) -> list[MergeResult]:
    landed: list[MergeResult] = []
    with tempfile.TemporaryDirectory() as name:
        place = SharedPaths(data_dir=Path(name), catalog_url=str(engine.url))
        fill_spool(
            place.spool, make_events(count, seed=1, start=now - count * _APART, apart=_APART)
        )
        open_landing(engine, place, landed.append).work_off()
    return landed


if __name__ == "__main__":
    main(*(int(each) for each in sys.argv[1:]))
