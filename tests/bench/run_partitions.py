"""Cost of a merge where `run` and `run_io` are partitions, in a PostgreSQL of its own.

Run by hand, `python -m tests.bench.run_partitions KIND [EVENTS [STORED [BATCH]]]`. KIND is `plain`,
`unknown` (the day of a known run is not known: each partition is searched) or `known` (a run is
searched in one partition). STORED runs lie in each of six older ranges of 30 days; all new runs
have one day. BATCH is the number of events of a batch; 0: as the pipeline chooses it. It prints the
CPU time of the session, and what it costs to delete the runs of one range. It asserts nothing.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine, Table, text

from lab.bench.catalogs import CatalogMeter
from lineage.catalog import upsert
from lineage.catalog.deleting import delete_where
from lineage.catalog.engine import exclusive_transaction
from lineage.process.clock import system_clock
from lineage.process.logs import log_to_stderr
from slis.settings import PipelineSettings, SharedPaths
from slis.spool_events import fill_spool, make_events
from slis.stream.landing import BatchLanding
from slis.stream.log.spool_reader import BatchLimits
from slis.stream.merge import batch_runs
from tests.bench.merge_statements import StatementMeter
from tests.bench.partition_merges import catalog

_RANGES: Final = 7
_APART: Final = timedelta(milliseconds=1)
_SHOWN: Final = 6
_TABLES: Final = {"run": "run_key", "run_io": "run_key, dataset_key, direction"}
_INDEXES: Final = """
    SELECT pg_get_indexdef(indexrelid) FROM pg_index
    WHERE indrelid = to_regclass(:table) AND NOT indisprimary
"""
_RUNS: Final = """
    INSERT INTO run ({day}run_key, run_id, job_namespace, job_name, root_run_id, root_job_namespace,
        root_job_name, first_event_at, last_event_at, started_at, completed_at, is_history,
        landed_at)
    SELECT {value}hashint8extended(n, {range}), 'aaaaaaaa-bbbb-{range}-' || n, 'ns',
        'job_' || n % 500,
        'aaaaaaaa-bbbb-{range}-' || n, 'ns', 'job_' || n % 500, n, {range}, n, n, false, n
    FROM generate_series(1, :rows) n
"""
_IO: Final = """
    INSERT INTO run_io ({day}run_key, dataset_key, direction, first_event_at, last_event_at,
        has_statistics, is_reported, landed_at)
    SELECT {value}hashint8extended(n, {range}), hashint8extended(n % 5000, 77), direction, n,
        {range}, false, true, n
    FROM generate_series(1, :rows) n, unnest(ARRAY['read', 'write']) direction
"""
_DAY_OF_RUN: Final = (
    (
        "DISTINCT run_key FROM s_run",
        "run_key, 0 * max(is_history) AS day FROM s_run GROUP BY run_key",
    ),
    (
        "LEFT JOIN run r ON r.run_key = s.run_key",
        "LEFT JOIN run r ON r.run_key = s.run_key AND r.day = s.day",
    ),
    ("io.run_key = s.run_key)", "io.run_key = s.run_key AND io.day = s.day)"),
)


def main(kind: str, count: int = 100_000, stored: int = 200_000, batch: int = 0) -> None:
    """Print what the merges cost, and what the deletion of one range does."""
    log_to_stderr("warning")
    with catalog() as engine, _folding_by_day(is_used=kind != "plain"):
        if kind != "plain":
            _split(engine)
        if kind == "known":
            _look_up_by_day()
        _fill(engine, stored, is_split=kind != "plain")
        _land(engine, count, batch)
        _delete(engine, stored, is_split=kind != "plain")


@contextmanager
def _folding_by_day(*, is_used: bool) -> Iterator[None]:
    """Have upserts of the two tables go by a key that has the day in it."""
    keys = upsert._folding  # noqa: SLF001

    def folding(insert: Any, names: list[str], changes: dict[str, Any]) -> Any:  # noqa: ANN401
        table: Table = insert.table
        return keys(insert, [*names, "day"] if table.name in _TABLES else names, changes)

    upsert._folding = folding if is_used else keys  # noqa: SLF001
    try:
        yield
    finally:
        upsert._folding = keys  # noqa: SLF001


def _look_up_by_day() -> None:
    query = batch_runs._STORE_KNOWN.text  # noqa: SLF001
    for old, new in _DAY_OF_RUN:
        if old not in query:
            raise ValueError(old)
        query = query.replace(old, new)
    batch_runs._STORE_KNOWN = text(query)  # noqa: SLF001


def _split(engine: Engine) -> None:
    with engine.begin() as connection:
        for table, keys in _TABLES.items():
            indexes = connection.scalars(text(_INDEXES), {"table": table}).all()
            for statement in (
                f"ALTER TABLE {table} ADD COLUMN day BIGINT NOT NULL DEFAULT 0",
                f"ALTER TABLE {table} RENAME TO {table}_plain",
                f"CREATE TABLE {table} (LIKE {table}_plain) PARTITION BY RANGE (day)",
                f"DROP TABLE {table}_plain",
                f"ALTER TABLE {table} ALTER COLUMN day SET DEFAULT 0",
                f"ALTER TABLE {table} ADD PRIMARY KEY ({keys}, day)",
                *indexes,
                *(
                    f"CREATE TABLE {table}_{day} PARTITION OF {table}"
                    f" FOR VALUES FROM ({-day}) TO ({1 - day})"
                    for day in range(_RANGES)
                ),
                f"CREATE TABLE {table}_default PARTITION OF {table} DEFAULT",
            ):
                connection.exec_driver_sql(statement)


def _fill(engine: Engine, stored: int, *, is_split: bool) -> None:
    with engine.begin() as connection:
        for each in range(1, _RANGES):
            names = (
                {"day": "day, ", "value": f"{-each}, "} if is_split else {"day": "", "value": ""}
            )
            for sql in (_RUNS, _IO):
                connection.execute(text(sql.format(range=each, **names)), {"rows": stored})
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM ANALYZE run, run_io")
        connection.exec_driver_sql("CHECKPOINT")


def _land(engine: Engine, count: int, batch: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = SharedPaths(data_dir=Path(name), catalog_url=str(engine.url))
        start = system_clock() - count * _APART
        fill_spool(place.spool, make_events(count, seed=1, start=start, apart=_APART))
        bounds = BatchLimits(batch or PipelineSettings().max_rows, PipelineSettings().max_bytes)
        meter, server = StatementMeter(engine), CatalogMeter(engine)
        BatchLanding(
            engine, place, bounds=bounds, clock=system_clock, landed=lambda _: None
        ).work_off()
    for statement, spent in meter.spent.most_common(_SHOWN):
        print(f"{spent / count / 1e3:7.2f} {statement}")  # noqa: T201 - its output
    print(  # noqa: T201 - its output
        f"merge: {meter.spent.total() / count / 1e3:.1f} µs an event of the session,"
        f" {(server.cpu_seconds() or 0.0) / count * 1e6:.1f} of the whole server,"
        f" {(server.wal_bytes() or 0) / count:.0f} bytes of write-ahead log"
    )


def _delete(engine: Engine, stored: int, *, is_split: bool) -> None:
    """Delete the runs of one range, and give their room back."""
    server, began = CatalogMeter(engine), time.monotonic()
    if is_split:
        with engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE run_1, run_io_1")
    else:
        for table in _TABLES:
            delete_where(
                engine, table, "last_event_at < :before", {"before": 2}, exclusive_transaction
            )
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM run, run_io")
    cpu = (server.cpu_seconds() or 0.0) / stored * 1e6
    print(  # noqa: T201 - its output
        f"deletion: {time.monotonic() - began:.2f} s, {cpu:.2f} µs a run of the whole server,"
        f" {(server.wal_bytes() or 0) / stored:.0f} bytes of write-ahead log a run"
    )


if __name__ == "__main__":
    main(sys.argv[1], *(int(each) for each in sys.argv[2:]))
