"""Merges read only the rows of their runs in PostgreSQL's large tables."""

from datetime import datetime

import pytest
from sqlalchemy import text
from sqlalchemy.event import listens_for

from tests.slis.stream.staged import merge_staged, staged_run

_AT = datetime.fromisoformat("2026-11-21T11:00:00+00:00")
_STORED, _RUNS, _DATASETS = 20_000, 200, 50
_LARGE = {"run", "run_io", "dataset_read", "dataset_write_default", "edge_run"}
_HOUR = 3_600_000_000
_FILL = f"""
    INSERT INTO run (run_key, run_id, job_namespace, job_name, root_run_id, root_job_namespace,
        root_job_name, first_event_at, last_event_at, started_at, completed_at, is_history,
        landed_at)
    SELECT n, 'run-' || n, 'j', 'app', 'root-' || n, 'j', 'app', n, n, n, n, false, n
    FROM generate_series(1, {_STORED}) n;
    INSERT INTO run_io (run_key, dataset_key, direction, first_event_at, last_event_at,
        has_statistics, is_reported, landed_at)
    SELECT n, mod(n, {_DATASETS}), d, n, n, false, true, n
    FROM generate_series(1, {_STORED}) n CROSS JOIN (VALUES ('read'), ('write')) AS way(d);
    INSERT INTO dataset_read (dataset_key, root_run_id, bucket, job_namespace, job_name, read_at,
        landed_at, is_reported, is_streaming, is_history)
    SELECT mod(n, {_DATASETS}), 'root-' || n, 0, 'j', 'app', n, n, true, false, false
    FROM generate_series(1, {_STORED}) n;
    INSERT INTO dataset_write (dataset_key, root_run_id, bucket, job_key, job_namespace, job_name,
        written_at, landed_at, names_input, is_reported, is_streaming, is_history)
    SELECT d.dataset_key, 'root-' || n, {_HOUR} * n + 1, 1, 'j', 'app', n, n, true, true, false,
        false
    FROM generate_series(1, {_STORED}) n JOIN (
        SELECT dataset_key, row_number() OVER () AS place FROM dataset WHERE name <> 'in') AS d
        ON d.place - 1 = mod(n, {_DATASETS});
    INSERT INTO edge_run (upstream_key, downstream_key, job_key, root_run_id, seen_at, is_reported)
    SELECT mod(n, {_DATASETS}), mod(n, {_DATASETS}), 1, 'root-' || n, n, true
    FROM generate_series(1, {_STORED}) n;
    ANALYZE run, run_io, dataset_read, dataset_write, edge_run
"""  # noqa: S608 - numbers of ours
_READ = """
    SELECT relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
    FROM pg_stat_xact_user_tables
"""


def _runs(batch):
    return [
        staged_run(_AT, run=f"{batch}-{n}", inputs=["in"], outputs={f"out{n % _DATASETS}": ["in"]})
        for n in range(_RUNS)
    ]


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_a_merge_reads_the_rows_of_its_runs_alone(catalog):
    """Look up what is stored of the runs by their keys, and the last write of each dataset."""
    read = {}

    @listens_for(catalog, "commit")
    def _note(connection):
        read.update(dict(tuple(row) for row in connection.execute(text(_READ))))

    merge_staged(catalog, _runs("first"))
    with catalog.begin() as connection:
        connection.exec_driver_sql(_FILL)
    read.clear()
    merge_staged(catalog, _runs("second"), merged=1)

    assert read.keys() >= _LARGE
    assert {name for name, rows in read.items() if name in _LARGE and rows >= _STORED} == set()
