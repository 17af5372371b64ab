"""Runs, writes and reads in the catalog after a batch."""

import pytest
from sqlalchemy import update

from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.tables import dataset
from tests.slis.stream.spools import later, rows, run_event

_RUNS = (
    "SELECT run_id, root_run_id, root_job_name, started_at, completed_at, failed_at FROM run "
    "ORDER BY 1"
)
_WRITES = """
    SELECT d.name, w.root_run_id, w.job_name, w.written_at, w.names_input, w.rows
    FROM dataset_write w JOIN dataset d ON d.dataset_key = w.dataset_key ORDER BY 1, 2
"""
_READS = """
    SELECT d.name, r.root_run_id, r.bucket, r.read_at, r.is_streaming
    FROM dataset_read r JOIN dataset d ON d.dataset_key = r.dataset_key ORDER BY 1, 2, 3
"""
_EDGES = """
    SELECT u.name, d.name, e.job_name, e.runs FROM edge e JOIN dataset u
    ON u.dataset_key = e.upstream_key
    JOIN dataset d ON d.dataset_key = e.downstream_key ORDER BY 1, 2, 3
"""


def micros(instant):
    return int(instant.timestamp()) * 1_000_000


def test_a_run_is_the_union_of_its_events(lander, catalog, at):
    """Store one write, one read and one edge.

    Inputs came with START, outputs with COMPLETE, and COMPLETE came first.
    """
    lander.land(
        run_event("COMPLETE", at(9), outputs=["out"], root=("a1", "shop"), rows_written=7),
        run_event("START", at(8), inputs=["in"], root=("a1", "shop")),
    )

    assert rows(catalog, _RUNS) == [("r1", "a1", "shop", micros(at(8)), micros(at(9)), None)]
    assert rows(catalog, _WRITES) == [("out", "a1", "shop", micros(at(9)), True, 7)]
    assert rows(catalog, _READS) == [("in", "a1", 0, micros(at(8)), False)]
    assert rows(catalog, _EDGES) == [("in", "out", "shop", 1)]


def test_a_failure_is_sticky_whatever_comes_after_it(lander, catalog, at):
    """Keep the failure: the listener sends COMPLETE 13 ms after FAIL.

    The dataset was not written, and readers see the failed run.
    """
    lander.land(
        run_event("START", at(8), inputs=["in"], outputs=["out"]),
        run_event("FAIL", at(9), outputs=["out"], facets={"errorMessage": {"message": "no disk"}}),
        run_event("COMPLETE", later(at(9), 1), outputs=["out"]),
    )

    failed = rows(catalog, _RUNS)
    assert [(run[0], run[5]) for run in failed] == [("r1", micros(at(9)))]
    assert rows(catalog, _WRITES) == []
    activity = (
        "SELECT last_failed_at, last_failed_run_id, writes, last_failure FROM dataset_activity"
    )
    assert (micros(at(9)), "r1", 0, "no disk") in rows(catalog, activity)


def test_a_failure_that_comes_a_batch_later_takes_the_write_back(lander, catalog, at):
    """Keep the write of the other run of the application, which did not fail."""
    lander.land(
        run_event("COMPLETE", at(8), run="r1", job="app.one", outputs=["out"], root=("a1", "app")),
        run_event(
            "COMPLETE", at(8, 50), run="r2", job="app.two", outputs=["out"], root=("a1", "app")
        ),
    )
    lander.land(run_event("FAIL", at(9), run="r2", job="app.two", root=("a1", "app")))
    assert rows(catalog, _WRITES) == [("out", "a1", "app", micros(at(8)), False, None)]

    lander.land(run_event("FAIL", at(9), run="r1", job="app.one", root=("a1", "app")))
    assert rows(catalog, _WRITES) == []
    assert rows(catalog, "SELECT writes, last_written_at FROM dataset_activity") == [(0, None)]


def test_runs_without_datasets_are_kept_and_touch_nothing(lander, catalog, at):
    """Store an application and a START-only RDD job as runs, without reads, writes or edges."""
    lander.land(
        run_event("START", at(8), run="a1", job="shop", job_type="APPLICATION"),
        run_event(
            "START", at(8), run="r2", job="shop.rdd", job_type="RDD_JOB", root=("a1", "shop")
        ),
    )

    found = rows(catalog, "SELECT run_id, job_type, completed_at FROM run ORDER BY 1")
    assert found == [("a1", "APPLICATION", None), ("r2", "RDD_JOB", None)]
    assert (
        rows(catalog, "SELECT * FROM run_io")
        == rows(catalog, _WRITES)
        == rows(catalog, _READS)
        == []
    )


@pytest.mark.postgres_nightly(but="RDD_JOB-False")
@pytest.mark.parametrize(("job_type", "waited_for"), [("SQL_JOB", True), ("RDD_JOB", False)])
def test_an_rdd_job_without_an_end_is_not_awaited(lander, catalog, at, job_type, waited_for):
    """Expect no end of an RDD job: the listener reports its start alone."""
    lander.land(run_event("START", at(8), run="r1", job_type=job_type, outputs=["t"]))

    started = rows(catalog, "SELECT last_started_at IS NOT NULL FROM dataset_activity")
    assert started == [(waited_for,)]


def test_a_run_id_that_two_jobs_use_is_two_runs(lander, catalog, at):
    """Keep two producers with the id 1 apart."""
    lander.land(
        run_event("COMPLETE", at(8), run="1", job="a", outputs=["x"]),
        run_event("COMPLETE", at(9), run="1", job="b", outputs=["y"]),
    )

    assert [row[0] for row in rows(catalog, "SELECT job_name FROM run ORDER BY 1")] == ["a", "b"]
    assert [row[:1] for row in rows(catalog, _EDGES)] == []


@pytest.mark.postgres_nightly
def test_tasks_with_one_run_id_and_job_are_one_run_that_fails_with_any(lander, catalog, at):
    """Call the table not written: no event says which of the mapped tasks failed, or wrote what."""
    task = {"run": "t1", "job": "dag.load", "integration": "AIRFLOW", "outputs": ["x"]}
    fields = (
        ("START", 0),
        ("START", 1),
        ("START", 2),
        ("COMPLETE", 5),
        ("FAIL", 6),
        ("COMPLETE", 9),
    )
    for kind, minute in fields:
        lander.land(run_event(kind, at(8, minute), root=("d1", "dag"), **task))

    assert [(row[0], row[5]) for row in rows(catalog, _RUNS)] == [("t1", micros(at(8, 6)))]
    assert rows(catalog, _WRITES) == []


@pytest.mark.postgres_nightly
def test_schema_changes_count_as_no_writes(lander, catalog, at):
    """Keep a dataset as stale after ALTER, TRUNCATE, and CREATE without inputs or figures.

    CTAS writes it.
    """
    changes = [
        ("alter", "ALTER"),
        ("truncate", "TRUNCATE"),
        ("create", "CREATE"),
        ("ctas", "CREATE"),
    ]
    lander.land(
        *(
            run_event(
                "COMPLETE",
                at(8),
                run=name,
                job=name,
                inputs=["in"] if name == "ctas" else [],
                outputs=[(name, {"lifecycleStateChange": {"lifecycleStateChange": change}})],
            )
            for name, change in changes
        )
    )

    assert [row[0] for row in rows(catalog, _WRITES)] == ["ctas"]


def test_a_drop_retires_a_dataset_until_it_is_written_again(lander, catalog, at):
    """Retire the dataset by DROP, and restore it by a later write."""
    dropped = {"lifecycleStateChange": {"lifecycleStateChange": "DROP"}}
    retired = "SELECT name, retired_at FROM dataset"
    lander.land(run_event("COMPLETE", at(8), run="r1", outputs=["t"]))
    lander.land(run_event("COMPLETE", at(9), run="r2", job="drop", outputs=[("t", dropped)]))
    assert rows(catalog, retired) == [("t", micros(at(9)))]

    lander.land(run_event("COMPLETE", at(10), run="r3", outputs=["t"]))
    assert rows(catalog, retired) == [("t", None)]


def test_a_dataset_that_was_retired_as_unseen_returns_when_it_is_written(lander, catalog, at):
    """Return it without a claim that it was dropped: an evaluation had retired it."""
    lander.land(run_event("COMPLETE", at(8), run="r1", outputs=["t"]))
    with exclusive_transaction(catalog) as connection:
        connection.execute(update(dataset).values(retired_at=micros(at(9))))

    lander.land(run_event("COMPLETE", at(10), run="r2", outputs=["t"]))

    assert rows(catalog, "SELECT name, retired_at FROM dataset") == [("t", None)]


def test_a_stream_writes_once_an_hour_and_its_start_writes_nothing(lander, catalog, at):
    """Count RUNNING with figures as a write of its hour, which a later failure keeps."""
    stream = {"inputs": ["topic"], "outputs": ["table"], "processing": "STREAMING"}
    lander.land(
        run_event("START", at(7), **stream),
        run_event("RUNNING", at(8, 10), rows_written=1, **stream),
        run_event("RUNNING", at(8, 50), rows_written=2, **stream),
        run_event("RUNNING", at(9, 5), facets={"checkpoints": {"completed": 1}}, **stream),
        run_event("FAIL", at(9, 30), **stream),
    )

    hours = "SELECT bucket, written_at, names_input, is_streaming FROM dataset_write ORDER BY 1"
    assert rows(catalog, hours) == [
        (micros(at(8)), micros(at(8, 50)), True, True),
        (micros(at(9)), micros(at(9, 5)), True, True),
    ]
    assert [row[2:] for row in rows(catalog, _READS)] == [
        (micros(at(hour)), micros(at(hour, minute)), True)
        for hour, minute in ((7, 0), (8, 10), (9, 5))
    ]


@pytest.mark.parametrize(("integration", "writes"), [("DEBEZIUM", 1), ("SPARK", 0), ("FLINK", 0)])
def test_a_connector_that_only_runs_has_written(lander, catalog, at, integration, writes):
    """Count RUNNING of a connector that sends nothing else; Spark and Flink report more."""
    fields = {"processing": "STREAMING", "integration": integration}
    lander.land(
        run_event("START", at(7), **fields),
        run_event("RUNNING", at(7, 1), inputs=["table"], **fields),
        run_event("RUNNING", at(7, 2), outputs=["topic"], **fields),
    )

    hours = "SELECT written_at, names_input, is_streaming FROM dataset_write"
    assert rows(catalog, hours) == [(micros(at(7, 2)), True, False)] * writes
    assert rows(catalog, _EDGES) == [("table", "topic", "app", 1)]


def test_a_clock_ahead_of_ours_makes_nothing_fresh(lander, catalog, at):
    """Treat an event of tomorrow as received now, and mark it."""
    lander.land(run_event("COMPLETE", at(36), outputs=["t"]))

    assert rows(catalog, "SELECT event_time, is_skewed FROM event") == [(micros(at(12)), True)]
    assert rows(catalog, "SELECT last_written_at FROM dataset_activity") == [(micros(at(12)),)]


def test_an_event_that_cannot_be_read_is_noted_and_stops_nothing(lander, catalog, at):
    """Store a row with the reason; the other events land.

    One odd facet costs no more than itself.
    """
    odd = run_event("COMPLETE", at(9), run="r2", outputs=["u"])
    odd["run"]["facets"]["nominalTime"] = {"nominalStartTime": {"not": "text"}, "x": 1}
    odd["run"]["facets"]["processing_engine"] = ["not", "an", "object"]
    lander.land(
        b'{"eventTime":"yesterday","run":{"runId":"r1"},"job":{"namespace":"j","name":"a"}}',
        odd,
        run_event("COMPLETE", at(8), outputs=["t"]),
    )

    assert rows(catalog, "SELECT spool_seq, reason, detail FROM pipeline_error ORDER BY 1") == [
        (
            1,
            "core_unreadable",
            "eventTime: expected a time of the years 1970 to 2199 in ISO 8601, got yesterday",
        ),
        (
            2,
            "partly_unreadable",
            "a field has another type than the specification says; the rest of the event was taken",
        ),
    ]
    assert [row[0] for row in rows(catalog, _WRITES)] == ["t", "u"]


@pytest.mark.postgres_nightly
def test_an_edge_counts_root_runs_and_not_runs(lander, catalog, at):
    """Count two runs with one lineage, as SaveAsTable sends them, as one ad-hoc job."""
    for root in ("a1", "a2"):
        lander.land(
            *(
                run_event(
                    "COMPLETE",
                    at(8),
                    run=f"{root}{part}",
                    job=part,
                    inputs=["in"],
                    outputs=["out"],
                    root=(root, "shop"),
                )
                for part in ("command", "insert")
            )
        )

    assert rows(catalog, _EDGES) == [("in", "out", "shop", 2)]


def test_an_unreadable_event_of_a_history_load_is_separate(lander, catalog):
    """Store with batch and error that they are history: M9 leaves them out."""
    broken = b'{"eventTime":"yesterday","run":{"runId":"r1"},"job":{"namespace":"j","name":"a"}}'
    lander.land(broken)
    lander.land(broken, origin="history")

    errors = rows(catalog, "SELECT spool_seq, is_history FROM pipeline_error ORDER BY 1")
    assert [(seq, bool(is_history)) for seq, is_history in errors] == [(1, False), (2, True)]
    assert rows(catalog, "SELECT events, history FROM batch ORDER BY last_seq") == [(1, 0), (1, 1)]
