"""Events of Airflow, dbt and long Spark applications of an estate."""

import json
from collections import Counter

import msgspec
import pytest

from lab.gameday.estate import Shape, build_estate
from lab.gameday.events import Listener
from lab.gameday.fault_truth import truth_of
from lab.gameday.history import slabs
from lab.gameday.injected import Injected
from lab.gameday.model import DAY, HOUR
from lab.gameday.runs import schedule_runs
from lab.gameday.slots import begins_at
from lab.gameday.truth_shapes import NamePattern

ESTATE = build_estate(Shape(seed=1, datasets=200, days=4))
BEGINS = begins_at(ESTATE)
WEDNESDAY = BEGINS + 2 * DAY


@pytest.fixture(scope="module")
def quiet():
    """Return all events of four days without a fault, in the order of arrival."""
    return _events()


def _events(*injected: Injected):
    return [json.loads(event.body) for slab in slabs(ESTATE, injected) for event in slab.events]


def _job(client, outputs=1):
    return next(
        job
        for job in ESTATE.jobs
        if job.client == client and len(job.outputs) >= outputs and job.cadence != "streaming"
    )


def _summary(job, events):
    """Return (state, job's name, datasets written) of each event of the job's runs."""
    names = {job.root_name, *ESTATE.names_of(job)}
    return [
        (event["eventType"], event["job"]["name"], len(event["outputs"]))
        for event in events
        if event["job"]["name"] in names
    ]


def _events_of(job, fate, attempt=1):
    """Return the events of the job's first run with this outcome."""
    run = next(run for run in schedule_runs(ESTATE) if run.job == job.number)
    circumstances = msgspec.structs.replace(run.circumstances, fate=fate)
    changed = msgspec.structs.replace(run, circumstances=circumstances, attempt=attempt)
    return [json.loads(event.body) for event in Listener(ESTATE).events(changed)]


def test_an_estate_has_every_client():
    """Generate Spark jobs mostly; each other client has a listener."""
    clients = Counter(job.client for job in ESTATE.jobs)

    assert clients["spark"] > clients["airflow"] > 0 < clients["dbt"]
    assert clients["application"]
    assert all(job.client == "spark" for job in ESTATE.jobs if job.reporting != "listener")


def test_a_task_belongs_to_the_run_of_its_dag(quiet):
    """Find another task of the DAG too, which touches no dataset."""
    job = _job("airflow")
    dag = [event for event in quiet if event["job"]["name"] == job.root_name]
    [task] = ESTATE.names_of(job)
    tasks = [event for event in quiet if event["job"]["name"] in {task, f"{job.root_name}.check"}]

    parents = {event["run"]["facets"]["parent"]["run"]["runId"] for event in tasks}
    assert {event["run"]["runId"] for event in dag} == parents
    assert {event["job"]["name"] for event in tasks} == {task, f"{job.root_name}.check"}
    assert all("nominalTime" in event["run"]["facets"] for event in tasks)


def test_airflow_tries_again_in_the_same_run_of_the_dag():
    """Announce the retry in the first try; the DAG ends once."""
    job = _job("airflow")
    first, second = _events_of(job, "retry"), _events_of(job, "complete", attempt=2)
    both = [event for event in first + second if event["outputs"] or event["eventType"] == "FAIL"]

    roots = {event["run"]["facets"]["parent"]["run"]["runId"] for event in both}
    tries = [event["run"]["facets"]["airflow"]["taskInstance"]["try_number"] for event in both]
    assert len(roots) == 1
    assert tries == [1, 1, 2, 2]
    assert [event[0] for event in _summary(job, first)] == ["START", "START", "FAIL"]
    assert [event[0] for event in _summary(job, second)] == ["START", "COMPLETE", "COMPLETE"]


def test_a_task_that_fails_for_good_fails_in_each_try():
    """Fail its DAG; no FAIL names what was not written."""
    job = _job("airflow")
    event = [(state, count) for state, _, count in _summary(job, _events_of(job, "fail"))]

    count = len(job.outputs)
    tried = [("START", count), ("FAIL", 0)]
    assert event == [("START", 0), *tried, *tried, ("FAIL", 0)]


def test_dbt_stops_at_the_first_model_that_fails():
    """Write one output by each model; those behind it have no events."""
    job = _job("dbt", outputs=2)
    first, *_ = ESTATE.names_of(job)

    broken, whole = (
        _summary(job, _events_of(job, "fail")),
        _summary(job, _events_of(job, "complete")),
    )

    root = job.root_name
    assert broken == [
        ("START", root, 0),
        ("START", first, 1),
        ("FAIL", first, 0),
        ("FAIL", root, 0),
    ]
    assert len({name for _, name, _ in whole}) == 1 + len(job.outputs)
    assert whole[-1] == ("COMPLETE", root, 0)


def test_a_long_application_is_one_root_a_day(quiet):
    """Run each hour's query in that application, which ends as the next one starts."""
    job = _job("application")
    event = [event for event in quiet if event["job"]["name"].split(".")[0] == job.name]
    states = [event["eventType"] for event in event if event["job"]["name"] == job.name]
    roots = Counter(
        event["run"]["facets"]["parent"]["root"]["run"]["runId"]
        for event in event
        if event["eventType"] == "COMPLETE" and event["outputs"]
    )

    assert states == ["START", "COMPLETE"] * 3 + ["START"]
    assert len(roots) == ESTATE.days
    assert min(roots.values()) > 10


def test_a_rerun_by_hand_starts_the_same_run_of_the_dag_again():
    """Clear a task some hours after it succeeded."""
    job = _job("airflow")
    rerun = Injected("rerun_by_hand", (job.number,), WEDNESDAY, WEDNESDAY + 10 * HOUR)
    starts = [
        event["run"]["runId"]
        for event in _events(rerun)
        if event["job"]["name"] == job.root_name and event["eventType"] == "START"
    ]

    assert sorted(Counter(starts).values())[-2:] == [1, 2]


def test_the_truth_has_the_names_that_clients_report():
    """Accept a task, its DAG, and what they write as the root of the fault."""
    job = _job("airflow")
    team = ESTATE.namespace_of(job)
    killed = Injected("killed_job", (job.number,), WEDNESDAY, WEDNESDAY + DAY, "fail")

    causes = truth_of(ESTATE, killed).causes

    assert {
        NamePattern(team, job.root_name),
        NamePattern(team, f"{job.root_name}.{job.name}"),
    } <= set(causes)
