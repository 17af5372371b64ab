"""Jobs below a root: a dbt model, an Airflow task, a Spark application."""

from itertools import permutations

import pytest

from lineage.names.keys import key
from tests.slis.stream.spools import read, rows, run_event

pytestmark = pytest.mark.postgres_nightly

_DAG = ("d1", "shop_daily")
_EDGES = """
    SELECT u.name, d.name, e.job_name, e.runs FROM edge e
    JOIN dataset u ON u.dataset_key = e.upstream_key
    JOIN dataset d ON d.dataset_key = e.downstream_key ORDER BY 1, 2, 3
"""
_WRITES = """
    SELECT d.name, w.root_run_id, w.job_name FROM dataset_write w
    JOIN dataset d ON d.dataset_key = w.dataset_key ORDER BY 1, 2
"""
_STORED = """
    SELECT r.root_run_id, r.root_job_name, r.leaf_job_name, r.completed_at IS NOT NULL,
        (SELECT count(*) FROM dataset_write), (SELECT count(*) FROM dataset_read),
        (SELECT count(*) FROM edge_run), (SELECT sum(runs) FROM edge),
        (SELECT sum(writes) FROM dataset_activity)
    FROM run r ORDER BY 1, 2
"""


def _event(at, job, integration, job_type="JOB", **given):  # noqa: ANN003
    return run_event("START", at, job=job, integration=integration, job_type=job_type, **given)


def _with_parent(event, parent, root):
    """Name another job as the parent than as the root."""
    event["run"]["facets"]["parent"]["job"]["name"] = parent
    event["run"]["facets"]["parent"]["root"] = {
        "run": {"runId": root[0]},
        "job": {"namespace": "j", "name": root[1]},
    }
    return event


def test_each_client_s_job_is_the_one_that_people_know(at):
    """Return root job and leaf job; the leaf job is null if both are one."""
    events = {
        "dbt's model": _event(at(8), "db.shop.orders", "DBT", "MODEL", root=("r", "dbt-run-shop")),
        "dbt's run": _event(at(8), "dbt-run-shop", "DBT"),
        "Airflow's task": _event(at(8), "shop_daily.load", "AIRFLOW", "TASK", root=_DAG),
        "a query of a task": _with_parent(
            _event(at(8), "9f3a", "TRINO", "QUERY", root=_DAG), "shop_daily.load", _DAG
        ),
        "a query alone": _event(at(8), "9f3a", "TRINO", "QUERY"),
        "Spark's write": _event(at(8), "app.save_x", "SPARK", root=("a1", "app")),
        "Spark's write, without a parent": _event(at(8), "app.save_x", "SPARK"),
        "an application with a dot": _event(at(8), "my.app", "SPARK", "APPLICATION"),
        "a write of it": _event(at(8), "my.app.save_x", "SPARK", root=("a1", "my.app")),
        "an application of a task": _event(at(8), "app", "SPARK", "APPLICATION", root=_DAG),
        "a write of that": _with_parent(
            _event(at(8), "app.save_x", "SPARK", root=_DAG), "app", ("d1", "shop_daily")
        ),
    }

    found = {name: read(event, at(12)).jobs for name, event in events.items()}

    assert {name: (jobs.root_job_name, jobs.leaf_job_name) for name, jobs in found.items()} == {
        "dbt's model": ("dbt-run-shop", "db.shop.orders"),
        "dbt's run": ("dbt-run-shop", None),
        "Airflow's task": ("shop_daily", "shop_daily.load"),
        "a query of a task": ("shop_daily", "shop_daily.load"),
        "a query alone": ("9f3a", None),
        "Spark's write": ("app", None),
        "Spark's write, without a parent": ("app", None),
        "an application with a dot": ("my.app", None),
        "a write of it": ("my.app", None),
        "an application of a task": ("shop_daily", "app"),
        "a write of that": ("shop_daily", "app"),
    }


def test_a_run_s_key_does_not_depend_on_its_parent_facet(at):
    """Store one run, also of clients that send the facet with START only."""
    events = [_event(at(8), "dag.load", "AIRFLOW", "TASK", root=root) for root in (_DAG, None)]

    keys = {read(event, at(12)).run.run_key for event in events}

    assert len(keys) == 1


def test_two_models_of_one_run_have_edges_and_writes_of_their_own(lander, catalog, at):
    """Store no path through the root job from the source of one model to the other."""
    given = {"integration": "DBT", "job_type": "MODEL", "root": ("d1", "dbt-run-shop")}
    lander.land(
        run_event("COMPLETE", at(8), run="m1", job="a", inputs=["x"], outputs=["a"], **given),
        run_event("COMPLETE", at(9), run="m2", job="b", inputs=["y"], outputs=["b"], **given),
    )

    assert rows(catalog, _EDGES) == [("x", "a", "a", 1), ("y", "b", "b", 1)]
    assert rows(catalog, _WRITES) == [("a", "d1", "a"), ("b", "d1", "b")]
    last = rows(catalog, "SELECT last_job_name FROM dataset_activity WHERE last_job_name <> ''")
    assert sorted(last) == [("a",), ("b",)]


def test_a_write_has_the_job_that_wrote_last(lander, catalog, at):
    """Write one dataset by three tasks of one DAG run in one hour."""
    given = {"integration": "AIRFLOW", "job_type": "TASK", "root": _DAG, "outputs": ["out"]}
    lander.land(
        run_event("COMPLETE", at(8, 10), run="t1", job="z", **given),
        run_event("COMPLETE", at(8, 50), run="t2", job="a", **given),
    )
    lander.land(run_event("COMPLETE", at(8), run="t3", job="m", **given))

    assert rows(catalog, _WRITES) == [("out", "d1", "a")]


@pytest.mark.postgres_nightly(but="9f3a-QUERY-order5")
@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize(("job", "job_type"), [("dag.load", "TASK"), ("9f3a", "QUERY")])
def test_a_parent_named_by_start_applies_to_all_events(  # noqa: PLR0913, PLR0917
    lander, catalog, at, order, job, job_type
):
    """Land each event by itself, with the result of the usual order.

    A query of the task `dag.load` has that job once its parent is known.
    """
    given = {"run": "t1", "job": job, "integration": "AIRFLOW", "job_type": job_type}
    touched = {"inputs": ["in"], "outputs": ["out"]}
    events = (
        _with_parent(run_event("START", at(8), root=_DAG, **given, **touched), "dag.load", _DAG),
        run_event("RUNNING", at(8, 1), **given, **touched),
        run_event("COMPLETE", at(9), **given, **touched),
    )
    for position in order:
        lander.land(events[position])

    assert rows(catalog, _STORED) == [("d1", "shop_daily", "dag.load", True, 1, 1, 1, 1, 1)]
    assert rows(catalog, _WRITES) == [("out", "d1", "dag.load")]
    assert rows(catalog, _EDGES) == [("in", "out", "dag.load", 1)]
    assert rows(catalog, "SELECT job_name FROM dataset_read") == [("dag.load",)]


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_task_that_fails_leaves_the_write_of_another(lander, catalog, at, is_alone):
    """Keep it for one batch and for two, and where the task changes the schema."""
    given = {"integration": "AIRFLOW", "job_type": "TASK", "root": _DAG}
    altered = ("out", {"lifecycleStateChange": {"lifecycleStateChange": "ALTER"}})
    events = [
        run_event("COMPLETE", at(8), run="t1", job="dag.load", outputs=["out"], **given),
        run_event("FAIL", at(9), run="t2", job="dag.compact", outputs=["out"], **given),
        run_event("COMPLETE", at(10), run="t3", job="dag.grant", outputs=[altered], **given),
    ]
    for batch in [[event] for event in events] if is_alone else [events]:
        lander.land(*batch)

    assert rows(catalog, _WRITES) == [("out", "d1", "dag.load")]
    assert rows(catalog, "SELECT writes, last_job_name FROM dataset_activity") == [(1, "dag.load")]


def test_a_root_with_the_write_keeps_it_once(lander, catalog, at):
    """Store the write once: another run of the DAG wrote it before the parent was known."""
    given = {"integration": "AIRFLOW", "job_type": "TASK"}
    touched = {"inputs": ["in"], "outputs": ["out"]}
    lander.land(run_event("COMPLETE", at(8), run="t1", job="dag.load", **given, **touched))
    lander.land(
        run_event("COMPLETE", at(8, 30), run="t2", job="dag.load", root=_DAG, **given, **touched)
    )
    lander.land(run_event("START", at(7), run="t1", job="dag.load", root=_DAG, **given))

    assert rows(catalog, _WRITES) == [("out", "d1", "dag.load")]
    assert rows(catalog, _EDGES) == [("in", "out", "dag.load", 1)]
    assert rows(catalog, "SELECT sum(writes) FROM dataset_activity") == [(1,)]


def test_an_owner_of_a_task_is_stored_under_the_task(lander, catalog, at):
    event = run_event("COMPLETE", at(8), run="t1", job="dag.load", root=_DAG, integration="AIRFLOW")
    event["job"]["facets"]["ownership"] = {"owners": [{"name": "sales"}]}
    lander.land(event)

    assert rows(catalog, "SELECT subject, subject_key, owner FROM ownership") == [
        ("job", key("j", "dag.load"), "sales")
    ]
