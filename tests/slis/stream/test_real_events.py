"""Events of real producers, through the whole stream, and the facts of each application."""

import json

import pytest

from lineage.catalog.engine import catalog_url, migrate, open_catalog
from tests.slis.stream.spools import Lander, rows, spool, work_off

pytestmark = pytest.mark.shared

_WRITES = """
    SELECT w.job_name, d.name, w.names_input FROM dataset_write w
    JOIN dataset d ON d.dataset_key = w.dataset_key ORDER BY 1, 2
"""
_EDGES = """
    SELECT e.job_name, u.name, d.name FROM edge e
    JOIN dataset u ON u.dataset_key = e.upstream_key
    JOIN dataset d ON d.dataset_key = e.downstream_key ORDER BY 1, 2, 3
"""


def of_application(catalog, query):
    """Return the rows of the query by their first column."""
    found = {}
    for job, *rest in rows(catalog, query):
        found.setdefault(job, []).append(tuple(rest))
    return found


@pytest.fixture(scope="module")
def listener(shared, tmp_path_factory, at):
    """Create a catalog of the 165 events that ten small jobs sent by the listener of Spark 4.3."""
    folder = tmp_path_factory.mktemp("listener")
    files = sorted((shared / "events/spark-4.3-listener").glob("*.jsonl"))
    events = [json.loads(line)["body"] for file in files for line in file.open()]
    catalog = open_catalog(catalog_url(folder))
    migrate(catalog)
    spool(folder / "spool.db", events, received_at=at(12))
    work_off(catalog, folder, at(12), max_rows=50)
    yield catalog
    catalog.dispose()


def test_every_event_of_the_listener_lands(listener):
    """Land 165 events in four batches, without a repeat and without an error."""
    batches = "SELECT count(*), sum(events), sum(duplicates) FROM batch"
    assert rows(listener, batches) == [(4, 165, 0)]
    assert rows(listener, "SELECT * FROM pipeline_error") == []


def test_each_application_has_its_own_writes(listener):
    """Count one write per dataset and application; the failed UDF wrote nothing."""
    lake = "/lake/"
    assert of_application(listener, _WRITES) == {
        "spike_batch_join": [
            (f"{lake}batch_join/cust_pq", True),
            (f"{lake}batch_join/enriched", True),
            (f"{lake}batch_join/orders_pq", True),
            (f"{lake}batch_join/wh/tier_net", True),
        ],
        # The append to t_copy failed without a FAIL: only the event log knows.
        "spike_jdbc_sqlite": [(f"{lake}jdbc_sqlite/jout", True), ("t_copy", True)],
        "spike_noop_cached": [
            (f"{lake}noop_cached/c_json", True),
            (f"{lake}noop_cached/c_out", True),
            (f"{lake}noop_cached/local_out", False),
        ],
        "spike_rdd_read": [
            (f"{lake}rdd_read/rdd_df_out", True),
            (f"{lake}rdd_read/rdd_out1795226795", True),
        ],
        "spike_sql_tables": [
            (f"{lake}sql_tables/wh/agg", True),
            (f"{lake}sql_tables/wh/ctas", True),
            (f"{lake}sql_tables/wh/orders", True),
        ],
        "spike_stream_rate_feb": [(f"{lake}stream_rate_feb/feb_out", False)],
    }


def test_each_application_has_its_reported_edges(listener):
    """Keep the edge of the failed job, through which its failure reaches downstream datasets."""
    edges = of_application(listener, _EDGES)
    assert edges["spike_batch_join"] == [
        ("/lake/batch_join/cust_pq", "/lake/batch_join/enriched"),
        ("/lake/batch_join/enriched", "/lake/batch_join/wh/tier_net"),
        ("/lake/batch_join/in/cust.json", "/lake/batch_join/cust_pq"),
        ("/lake/batch_join/in/orders.csv", "/lake/batch_join/orders_pq"),
        ("/lake/batch_join/orders_pq", "/lake/batch_join/enriched"),
    ]
    assert edges["spike_fail_udf"] == [("/lake/fail_udf/in/orders.csv", "/lake/fail_udf/out_fail")]
    assert edges["spike_sql_tables"] == [
        ("/lake/sql_tables/in/orders.csv", "/lake/sql_tables/wh/orders"),
        ("/lake/sql_tables/wh/agg", "/lake/sql_tables/wh/ctas"),
        ("/lake/sql_tables/wh/ctas", "/lake/sql_tables/wh/agg"),
        ("/lake/sql_tables/wh/orders", "/lake/sql_tables/wh/agg"),
        ("/lake/sql_tables/wh/orders", "/lake/sql_tables/wh/ctas"),
    ]


def test_failures_and_drops_are_known(listener):
    """Fail the run of the UDF for good, and retire the dropped table."""
    failed = "SELECT root_job_name, error_message IS NOT NULL FROM run WHERE failed_at IS NOT NULL"
    assert rows(listener, failed) == [("spike_fail_udf", True)]
    retired = "SELECT name FROM dataset WHERE retired_at IS NOT NULL"
    assert rows(listener, retired) == [("/lake/sql_tables/wh/ctas",)]
    aliases = "SELECT DISTINCT name FROM dataset_alias WHERE rule = 'symlink' ORDER BY 1"
    assert [name for (name,) in rows(listener, aliases)] == [
        "default.agg",
        "default.ctas",
        "default.orders",
        "default.tier_net",
    ]


def test_the_runs_that_only_start_are_rdd_jobs_that_write_nothing(listener):
    """Store seven RDD jobs that never end; each names its scan and no output."""
    open_runs = """
        SELECT r.job_type, io.direction, count(*) FROM run r
        LEFT JOIN run_io io ON io.run_key = r.run_key
        WHERE r.completed_at IS NULL AND r.failed_at IS NULL GROUP BY r.job_type, io.direction
    """
    assert rows(listener, open_runs) == [("RDD_JOB", "read", 7)]


def _open_events(folder):
    for file in sorted(folder.rglob("*.json*")):
        if "expected-templates" in file.parts or file.name.startswith("compat_history_missing"):
            continue
        texts = file.read_text().splitlines() if file.suffix == ".jsonl" else [file.read_text()]
        yield from map(json.loads, texts)


def test_the_public_events_of_other_producers_land(catalog, shared, tmp_path, at):
    """Land all of Airflow, Dataproc and Marquez's edge cases, and fold the re-delivered ones."""
    events = list(_open_events(shared / "events/open"))
    lander = Lander(catalog, tmp_path, at(12))

    landed = lander.land(*events)

    assert (landed.events, rows(catalog, "SELECT * FROM pipeline_error")) == (len(events), [])
    assert landed.duplicates == 7
    edges = of_application(catalog, _EDGES)
    assert edges["cl_i_test_application"] == [
        ("/user/hive/warehouse/t1", "/user/hive/warehouse/t2")
    ]
    assert edges["prepare_apple_pie"] == [("apple.filling", "apple.pie")]
    tasks = sorted(edge for job in edges if job.startswith("BQ.") for edge in edges[job])
    assert tasks == [
        ("copied.csv", "mock-project.test.upload"),
        ("mock-project.test.upload", "mock-project.test.upload_cp"),
        ("mock-project.test.upload_cp", "result.csv"),
        ("test.csv", "mock-project.test.upload"),
    ]
    symlinks = "SELECT count(*) FROM dataset_alias WHERE rule = 'symlink'"
    assert rows(catalog, symlinks) == [(8,)]
