"""Evidence and events brought together, in both kinds of catalog."""

from datetime import timedelta

import pytest

from slis.evidence import match
from slis.settings import Place, Settings
from slis.stream.prune import prune
from slis.wording import BY_EVENT_LOG
from tests.slis.evidence.estates import NOON, Estate, event, execution, stage, write

_SAME_SQL = "the SQL of evidence: the other tests of this file run on it"
_WRITES = """
    SELECT d.name, w.is_reported, w.root_run_id FROM dataset_write w
    JOIN dataset d ON d.dataset_key = w.dataset_key ORDER BY 1
"""


@pytest.fixture
def estate(spark, catalog, tmp_path):
    return Estate(spark, catalog, tmp_path)


def test_a_failure_that_its_events_call_a_success_takes_the_write_back(estate):
    """At once: nothing that may still come makes it a success."""
    estate.land(event("START", 0), event("COMPLETE", 1))
    assert estate.rows(_WRITES) == [("out", True, "root")]

    estate.log(execution(error_message="[DUPLICATE] no"))
    estate.join(minutes=0)

    assert estate.rows(_WRITES) == []
    failed = (
        "SELECT last_failed_run_id, last_failure FROM dataset_activity WHERE last_failed_at > 0"
    )
    assert estate.rows(failed) == [("r1", f"{BY_EVENT_LOG}[DUPLICATE] no")]


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_another_start_is_another_run(estate):
    """A millisecond off: the failure is not this run's."""
    estate.land(event("START", 0.001), event("COMPLETE", 1.001))

    estate.log(execution(error_message="no", lasts=0.5))
    estate.join()

    assert estate.rows(_WRITES) == [("out", True, "root")]


@pytest.mark.postgres_nightly
def test_a_run_is_known_by_its_end_where_its_start_was_lost(estate):
    """COMPLETE has the execution's end, and its parent names the application's run."""
    start = event("START", -5, root=None)
    start["run"]["runId"], start["job"]["name"] = "root", "shop"
    start["job"]["facets"]["jobType"]["jobType"] = "APPLICATION"
    start["outputs"] = []
    estate.land(start, event("COMPLETE", 1, facets={}))

    estate.log(execution(error_message="no"))
    estate.join()

    assert estate.rows(_WRITES) == []


def test_an_end_that_nobody_told_is_evidence_until_it_is_told(estate):
    """The write is known, and not reported; the late COMPLETE makes it so."""
    estate.land(event("START", 0))
    estate.log(execution())

    assert estate.join(minutes=1) == 1
    assert estate.rows(_WRITES) == []
    estate.join()
    assert estate.rows(_WRITES) == [("out", False, "root")]

    estate.land(event("COMPLETE", 1))
    estate.join(minutes=11)

    assert estate.rows(_WRITES) == [("out", True, "root")]


def test_what_no_event_names_stands_in_the_run_of_its_execution(estate):
    """A second output, and the input of both."""
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


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_an_execution_that_has_not_ended_or_settled_says_nothing_yet(estate):
    """It may fail, and its events may be on their way."""
    estate.log(execution(lasts=None), execution(1, after=1), touched=[write(), write(1)])

    assert estate.join(minutes=2) == 0

    estate.join()
    assert estate.rows(_WRITES) == [("out", False, "app-1")]


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_without_the_join_by_time_a_failure_would_stay_a_success(estate, monkeypatch):
    """The mutant of the first test."""
    monkeypatch.setattr(match, "_TOLD", ())
    estate.land(event("START", 0), event("COMPLETE", 1))

    estate.log(execution(error_message="no"))
    estate.join()

    assert estate.rows(_WRITES) == [("out", True, "root")]


def test_evidence_goes_when_it_is_old(estate, tmp_path):
    """With its lists; what is younger stays."""
    stages = [stage(0, 5, execution_id=0), stage(1, 5, execution_id=1)]
    touched = [write(), write(1)]
    estate.log(execution(), execution(1, after=86_400), touched=touched, stages=stages)

    settings = Settings(write_days=1)
    now = NOON + timedelta(days=1, hours=6)
    prune(estate.catalog, Place(data_dir=tmp_path), settings, now, lake_days=90)

    assert estate.rows("SELECT execution_id FROM execution") == [(1,)]
    assert estate.rows("SELECT count(*) FROM execution_io") == [(1,)]
