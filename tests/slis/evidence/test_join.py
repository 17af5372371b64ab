"""Joins of evidence and events, in both kinds of catalog."""

from datetime import timedelta

import pytest

from slis.evaluation.wording import BY_EVENT_LOG
from slis.evidence import match
from slis.settings import PipelineSettings
from slis.stream.prune import prune_lake_and_catalog
from tests.slis.evidence.estates import (
    APPLICATION,
    NOON,
    Estate,
    application,
    event,
    execution,
    stage,
    write,
)
from tests.slis.lake.lakes import writer_of

_SAME_SQL = "the SQL of evidence: the other tests of this file run on it"
_WRITES = """
    SELECT d.name, w.is_reported, w.root_run_id FROM dataset_write w
    JOIN dataset d ON d.dataset_key = w.dataset_key ORDER BY 1
"""


@pytest.fixture
def estate(catalog, tmp_path):
    return Estate(catalog, tmp_path)


def test_a_failure_that_its_events_call_a_success_takes_the_write_back(estate):
    """Fail at once: nothing that may still come makes it a success."""
    estate.land(event("START", 0), event("COMPLETE", 1))
    assert estate.rows(_WRITES) == [("out", True, "root")]

    estate.log(execution(error_message="[DUPLICATE] no"))
    estate.join(minutes=0)

    assert estate.rows(_WRITES) == []
    failed = (
        "SELECT last_failed_run_id, last_failure FROM dataset_activity WHERE last_failed_at > 0"
    )
    assert estate.rows(failed) == [("r1", f"{BY_EVENT_LOG}[DUPLICATE] no")]


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_each_attempt_of_an_application_has_its_own_runs(estate, order):
    """Keep what the second attempt wrote: the first one failed by its execution of that number."""
    second = {"run": "r2", "root": ("root-2", "shop")}
    estate.land(
        event("START", 0),
        event("FAIL", 1),
        *(event(kind, after, **second) for kind, after in (("START", 60), ("COMPLETE", 61))),
    )
    logs = {1: {"error_message": "executor lost"}, 2: {"after": 60}}
    for number in order:
        of = application(number, after=60 * (number - 1))
        estate.log(execution(**logs[number]), touched=[write()], of=of)
        estate.join(minutes=2)
    estate.join(minutes=11)

    assert estate.rows(_WRITES) == [("out", True, "root-2")]
    runs = "SELECT run_id, failed_at IS NOT NULL, evidence FROM run ORDER BY 1"
    assert estate.rows(runs) == [("r1", True, None), ("r2", False, None)]
    roots = "SELECT application_id, root_run_id FROM application ORDER BY 1"
    assert estate.rows(roots) == [("app-1", "root"), ("app-1/2", "root-2")]


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_attempts_below_one_root_run_are_separated_by_time(estate):
    """Match runs whose START was lost: both attempts run their first Spark job, as number 0."""
    job = {"facets": {**APPLICATION, "spark_jobDetails": {"jobId": 0}}}
    estate.land(event("FAIL", 0.9, **job), event("COMPLETE", 60.9, run="r2", **job))
    for number in (1, 2):
        after = 60.0 * (number - 1)
        jobs = [{"execution_id": 0, "spark_job_id": 0}]
        estate.log(execution(after=after), jobs=jobs, of=application(number, after=after))
    estate.join()

    matched = """
        SELECT e.application_id, r.run_id FROM execution e JOIN run r ON r.run_key = e.run_key
        ORDER BY 1
    """
    assert estate.rows(matched) == [("app-1", "r1"), ("app-1/2", "r2")]


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_an_attempt_without_events_is_a_run_of_its_own(estate):
    """Read the second attempt from its log alone; the first one has its events."""
    estate.land(event("START", 0), event("FAIL", 1))
    estate.log(execution(error_message="executor lost"))
    estate.log(execution(after=60), touched=[write()], of=application(2, after=60))
    estate.join()

    assert estate.rows(_WRITES) == [("out", False, "app-1/2")]
    of_run = "SELECT application_id, failed_at FROM run WHERE evidence = 'alone'"
    assert estate.rows(of_run) == [("app-1", None)]


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_another_start_is_another_run(estate):
    """Leave the run alone, whose start differs by a millisecond."""
    estate.land(event("START", 0.001), event("COMPLETE", 1.001))

    estate.log(execution(error_message="no", lasts=0.5))
    estate.join()

    assert estate.rows(_WRITES) == [("out", True, "root")]


@pytest.mark.postgres_nightly
def test_a_run_is_known_by_its_end_where_its_start_was_lost(estate):
    """Match COMPLETE, which has the execution's end; its parent names the application's run."""
    start = event("START", -5, root=None)
    start["run"]["runId"], start["job"]["name"] = "root", "shop"
    start["job"]["facets"]["jobType"]["jobType"] = "APPLICATION"
    start["outputs"] = []
    estate.land(start, event("COMPLETE", 1, facets={}))

    estate.log(execution(error_message="no"))
    estate.join()

    assert estate.rows(_WRITES) == []


def test_an_end_without_an_event_is_evidence_until_the_event(estate):
    """Count the write as known and not reported, until the late COMPLETE."""
    estate.land(event("START", 0))
    estate.log(execution())

    assert estate.join(minutes=1) == 1
    assert estate.rows(_WRITES) == []
    estate.join()
    assert estate.rows(_WRITES) == [("out", False, "root")]

    estate.land(event("COMPLETE", 1))
    estate.join(minutes=11)

    assert estate.rows(_WRITES) == [("out", True, "root")]


def test_unreported_datasets_belong_to_the_run_of_their_execution(estate):
    """Add a second output, and the input of both."""
    estate.land(event("START", 0), event("COMPLETE", 1))
    read = {**write(name="in"), "direction": "read"}
    estate.log(execution(), touched=[write(), write(name="more"), read])

    estate.join()

    assert estate.rows(_WRITES) == [("more", False, "root"), ("out", True, "root")]
    edges = """
        SELECT d.name, e.last_reported_at IS NULL FROM edge e
        JOIN dataset d ON d.dataset_key = e.downstream_key ORDER BY 1
    """
    assert [(name, bool(inferred)) for name, inferred in estate.rows(edges)] == [
        ("more", True),
        ("out", True),
    ]


def test_unreported_datasets_have_the_day_of_their_run(estate):
    """Store them in the day of the run's id, where events of the run look for them."""
    run = "019ab5c2-7f00-7000-8000-000000000000"
    estate.land(event("START", 0, run=run), event("COMPLETE", 1, run=run))
    estate.log(execution(), touched=[write(), write(name="more")])

    estate.join()

    days = """
        SELECT d.name, io.day - r.day, r.day > 0 FROM run_io io
        JOIN run r ON r.run_key = io.run_key
        JOIN dataset d ON d.dataset_key = io.dataset_key ORDER BY 1
    """
    assert [tuple(row) for row in estate.rows(days)] == [("more", 0, True), ("out", 0, True)]


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_an_execution_that_has_not_settled_is_not_compared(estate):
    """Wait: it may fail, and its events may still come."""
    estate.log(execution(lasts=None), execution(1, after=1), touched=[write(), write(1)])

    assert estate.join(minutes=2) == 0

    estate.join()
    assert estate.rows(_WRITES) == [("out", False, "app-1")]


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_without_the_join_by_time_a_failure_would_stay_a_success(estate, monkeypatch):
    """Run the mutant of the first test."""
    monkeypatch.setattr(match, "_CONDITIONS", ())
    estate.land(event("START", 0), event("COMPLETE", 1))

    estate.log(execution(error_message="no"))
    estate.join()

    assert estate.rows(_WRITES) == [("out", True, "root")]


def test_old_evidence_is_deleted(estate, tmp_path):
    """Delete it with its lists; keep younger evidence."""
    stages = [stage(0, 5, execution_id=0), stage(1, 5, execution_id=1)]
    touched = [write(), write(1)]
    estate.log(execution(), execution(1, after=86_400), touched=touched, stages=stages)

    settings = PipelineSettings(write_days=1)
    now = NOON + timedelta(days=1, hours=6)
    prune_lake_and_catalog(writer_of(estate.catalog, tmp_path), settings, now, lake_days=90)

    assert estate.rows("SELECT execution_id FROM execution") == [(1,)]
    assert estate.rows("SELECT count(*) FROM execution_io") == [(1,)]
