"""Differences between two runs."""

import pytest
from litestar.testing import TestClient

from lineage.catalog.reader import open_reader
from service.api.app import create_app
from service.errors import UnknownRunError
from service.queries import diff as module
from service.queries.diff import ValueChange, compare_runs, last_good_and_failed
from service.queries.schema_changes import Retyped, SchemaChange, SchemaField
from service.runtime.settings import Settings
from tests.service.commandline import answer, lineward
from tests.slis.stream.spools import run_event

pytestmark = pytest.mark.postgres_nightly

_OLD = {"id": "int", "at": "date"}
_NEW = {"id": "bigint", "email": "string"}


def _schema(fields):
    return {"schema": {"fields": [{"name": name, "type": fields[name]} for name in fields]}}


def _run(at, run, code, day, *, fault=None):
    """Return the events of a day's run; `fault`: its state, fields, version and more inputs."""
    kind, fields, version, more = fault or ("COMPLETE", _OLD, "1", ())
    facets = {
        "executionParameters": {"parameters": [{"key": "run_date", "value": day}]},
        "spark_properties": {"properties": {"spark.master": "yarn"}},
        "processing_engine": {"name": "spark", "version": "4.3.0"},
    }
    inputs = [("raw", {"version": {"datasetVersion": version}}), *more]
    outputs = [("core", _schema(fields))]
    event = run_event(kind, at, run=run, inputs=inputs, outputs=outputs, facets=facets)
    event["job"]["facets"]["sourceCodeLocation"] = {"type": "git", "url": "x", "version": code}
    return event


def _land(lander, at):
    """Land two successes, a failure of new code over more inputs, and another failure."""
    lander.land(
        _run(at(1), "ok1", "v1", "d1"),
        _run(at(2), "ok2", "v1", "d2"),
        _run(at(3), "bad1", "v2", "d3", fault=("FAIL", _NEW, "2", ["ref"])),
        _run(at(4), "bad2", "v2", "d4", fault=("FAIL", _OLD, "1", ())),
    )


def _query(catalog, question, *arguments: str):
    with open_reader(catalog.url.render_as_string(hide_password=False)) as reader:
        return question(reader, *arguments)


def test_two_runs_differ_in_code_settings_inputs_versions_and_schemas(lander, catalog, at):
    """Leave out equal values: neither engine nor Spark's settings are named."""
    _land(lander, at)

    found = _query(catalog, compare_runs, "ok2", "bad1")

    assert (found.first.status, found.second.status, found.same) == ("COMPLETE", "FAIL", False)
    assert found.changes == [
        ValueChange("status", "COMPLETE", "FAIL"),
        ValueChange("code_version", "v1", "v2"),
        ValueChange("parameters run_date", "d2", "d3"),
    ]
    core, raw, ref = found.datasets
    assert (core.direction, core.only_in) == ("write", None)
    assert core.schema == SchemaChange(
        added=[SchemaField("email", "string")],
        removed=[SchemaField("at", "date")],
        retyped=[Retyped("id", "int", "bigint")],
    )
    assert (raw.direction, raw.changes) == ("read", [ValueChange("version", "1", "2")])
    assert (ref.dataset, ref.only_in, ref.schema) == ("ref", "second", None)


def test_a_run_differs_in_nothing_from_itself(lander, catalog, at):
    """Show nothing that is equal."""
    _land(lander, at)

    found = _query(catalog, compare_runs, "ok1", "ok1")

    assert (found.same, found.changes, found.datasets) == (True, [], [])


def test_a_root_run_stands_for_itself_and_its_children(lander, catalog, at):
    """Attribute the reads of a child to the application, and fail it with a child."""
    root = ("app1", "shop")
    lander.land(
        run_event("START", at(1), run="app1", job="shop"),
        run_event("COMPLETE", at(2), run="c1", job="shop.a", inputs=["raw"], root=root),
        run_event("FAIL", at(3), run="c2", job="shop.b", outputs=["core"], root=root),
        run_event("COMPLETE", at(1), run="app2", job="shop", inputs=["raw"]),
    )

    found = _query(catalog, compare_runs, "app1", "app2")

    assert (found.first.runs, found.first.status, found.first.duration_seconds) == (3, "FAIL", 7200)
    assert [(one.dataset, one.only_in) for one in found.datasets] == [("core", "first")]


def test_a_job_is_shown_by_its_last_success_and_the_first_failure_after_it(lander, catalog, at):
    """Choose the first failure, which may have caused the newest."""
    _land(lander, at)

    assert _query(catalog, last_good_and_failed, "app") == ("ok2", "bad1")


def test_a_job_that_has_recovered_is_shown_by_its_newest_fault(lander, catalog, at):
    """Ignore the success after the failure."""
    _land(lander, at)
    lander.land(_run(at(5), "ok3", "v3", "d5"))

    assert _query(catalog, last_good_and_failed, "app") == ("ok2", "bad1")


def test_a_job_without_a_failure_has_nothing_to_compare(lander, catalog, at):
    """Raise for this job and for an unknown one."""
    lander.land(_run(at(1), "ok1", "v1", "d1"))

    with pytest.raises(UnknownRunError, match="no failure after a success"):
        _query(catalog, last_good_and_failed, "app")
    with pytest.raises(UnknownRunError, match="no run of a job 'nope'"):
        _query(catalog, last_good_and_failed, "nope")


def test_command_and_api_answer_alike(lander, catalog, at):
    """Return the same by two run ids and by the job, and print a table."""
    _land(lander, at)
    url = catalog.url.render_as_string(hide_password=False)

    text = answer("diff", "--job", "app", catalog=catalog)
    with TestClient(create_app(Settings(catalog_url=url)), base_url="http://127.0.0.1") as client:
        of_job = client.get("/api/v1/diff", params={"job": "app"}).json()
        of_runs = client.get("/api/v1/diff", params={"first": "ok2", "second": "bad1"}).json()
        rejected = client.get("/api/v1/diff", params={"first": "ok2"})
    shown = lineward("diff", "ok2", "bad1", catalog=catalog).stdout

    assert text == of_job == of_runs
    assert (rejected.status_code, "give two runs" in rejected.json()["detail"]) == (400, True)
    assert "id was int and is bigint" in shown
    assert lineward("diff", "ok2", "none", catalog=catalog).returncode == 3


def test_without_the_rule_an_unreported_schema_loses_all_fields(lander, catalog, at, monkeypatch):
    """Run the mutant: treat a schema that a run did not report as empty."""
    _land(lander, at)
    lander.land(run_event("COMPLETE", at(6), run="mute", outputs=["core"]))
    (only,) = _query(catalog, compare_runs, "ok1", "mute").datasets
    assert (only.dataset, only.only_in) == ("raw", "first")
    monkeypatch.setattr(
        module,
        "_schema",
        lambda one, _other, known: module.schema_change(module.fields_of(known[one]), []),
    )

    found = _query(catalog, compare_runs, "ok1", "mute").datasets

    assert next(one.schema.removed for one in found if one.dataset == "core")


def test_a_job_below_a_root_is_compared_by_its_own_runs(lander, catalog, at):
    """Leave out other tasks of the DAG run."""
    given = {"integration": "AIRFLOW", "job_type": "TASK"}
    lander.land(
        run_event("COMPLETE", at(1), run="a1", job="dag.a", root=("d1", "dag"), **given),
        run_event("FAIL", at(2), run="a2", job="dag.a", root=("d2", "dag"), **given),
        run_event("COMPLETE", at(2), run="b2", job="dag.b", root=("d2", "dag"), **given),
    )

    assert _query(catalog, last_good_and_failed, "dag.a") == ("a1", "a2")
    found = _query(catalog, compare_runs, "a1", "a2")
    assert (found.first.job_name, found.second.status, found.second.runs) == ("dag.a", "FAIL", 1)
    assert _query(catalog, last_good_and_failed, "dag") == ("d1", "d2")
