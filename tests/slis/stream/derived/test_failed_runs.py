"""Failed runs: also those without an end, but none that was started again."""

from datetime import timedelta
from itertools import islice, permutations
from pathlib import Path

import pytest

from alerts.detection.bad_datasets import load_failures
from lineage.policy import parse_policy
from lineage.process.clock import to_micros
from lineage.states import NEVER_ENDED
from slis.evaluation.evaluation import evaluate
from tests.slis.stream.spools import Lander, rows, run_event

pytestmark = pytest.mark.postgres_nightly

_FAILED = "SELECT last_failed_run_id, last_failed_at, last_failure FROM dataset_activity"
_NONE = [(None, None, None)]
_NO_DISK = {"errorMessage": {"message": "disk full"}}


def _app(kind, at):
    return run_event(kind, at, run="a1", job="app", job_type="APPLICATION")


def _write(kind, at, run="w1", **given):  # noqa: ANN003
    return run_event(
        kind, at, run=run, job="app.write", root=("a1", "app"), outputs=["out"], **given
    )


@pytest.mark.postgres_always
def test_a_write_has_failed_once_its_application_ended_without_it(lander, catalog, at):
    """Take the failure back when the write's own end arrives later."""
    lander.land(_app("START", at(8)), _write("START", at(8, 1)))
    assert rows(catalog, _FAILED) == _NONE

    lander.land(_app("COMPLETE", at(8, 5)))
    assert rows(catalog, _FAILED) == [("w1", to_micros(at(8, 1)), NEVER_ENDED)]

    lander.land(_write("COMPLETE", at(8, 4)))
    assert rows(catalog, _FAILED) == _NONE
    assert rows(catalog, "SELECT root_run_id FROM dataset_write") == [("a1",)]


@pytest.mark.parametrize("end", ["FAIL", "ABORT"])
def test_a_write_fails_with_its_application(lander, catalog, at, end):
    lander.land(_app("START", at(8)), _write("START", at(8, 1)), _app(end, at(8, 5)))

    assert rows(catalog, _FAILED) == [("w1", to_micros(at(8, 1)), NEVER_ENDED)]


def test_an_earlier_failure_is_restored_when_the_end_comes_late(lander, catalog, at):
    lander.land(_write("FAIL", at(7), run="w0", facets=_NO_DISK))
    lander.land(_app("START", at(8)), _write("START", at(8, 1)), _app("COMPLETE", at(8, 5)))
    assert rows(catalog, _FAILED) == [("w1", to_micros(at(8, 1)), NEVER_ENDED)]

    lander.land(_write("COMPLETE", at(8, 4)))

    assert rows(catalog, _FAILED) == [("w0", to_micros(at(7)), "disk full")]


@pytest.mark.parametrize(
    "event",
    [("RUNNING", 9, "SQL_JOB"), ("START", 8.1, "RDD_JOB")],
    ids=["reported after the end", "RDD"],
)
def test_other_runs_that_did_not_end_are_not_failed(lander, catalog, at, event):
    """Leave out RDD jobs, which never end, and runs with events after their root's end."""
    kind, hour, job_type = event
    lander.land(_app("START", at(8)), _write("START", at(8, 1), job_type=job_type))
    lander.land(_write(kind, at(hour), job_type=job_type), _app("COMPLETE", at(8, 30)))

    assert rows(catalog, _FAILED) == _NONE


@pytest.mark.postgres_always
def test_a_run_that_is_started_again_under_its_id_has_not_failed(lander, catalog, at):
    """Clear the failure of the first attempt, as Airflow does with a cleared task."""
    lander.land(_write("START", at(8)), _write("FAIL", at(8, 5), facets=_NO_DISK))
    assert rows(catalog, _FAILED) == [("w1", to_micros(at(8, 5)), "disk full")]

    lander.land(_write("START", at(8, 30)))
    assert rows(catalog, _FAILED) == _NONE

    lander.land(_write("COMPLETE", at(8, 40)))
    ended = "SELECT failed_at, completed_at FROM run"
    assert rows(catalog, ended) == [(None, to_micros(at(8, 40)))]
    assert rows(catalog, "SELECT written_at FROM dataset_write") == [(to_micros(at(8, 40)),)]


def test_a_run_fails_no_earlier_than_it_starts(lander, catalog, at):
    """Correct a FAIL in local time without a zone, hours before its START."""
    events = []
    for number, hours in enumerate((3, 7.5, 7.9)):
        given = {"run": f"w{number}", "job": "app.write", "outputs": [f"out{number}"]}
        given["root"] = ("a1", "app")
        events.append(run_event("START", at(8), **given))
        events.append(run_event("FAIL", at(hours), **given, facets=_NO_DISK))
    lander.land(*events)

    start = to_micros(at(8))
    assert sorted(rows(catalog, _FAILED)) == [
        (f"w{number}", start, "disk full") for number in range(3)
    ]
    assert rows(catalog, "SELECT failed_at FROM run") == [(start,)] * 3


def test_a_rerun_that_completes_has_not_failed_whatever_the_zone_of_the_first_fail(
    lander, catalog, at
):
    """Clear a FAIL that lies before both STARTs."""
    lander.land(_write("START", at(8)), _write("FAIL", at(3), facets=_NO_DISK))
    lander.land(_write("START", at(9)), _write("COMPLETE", at(9, 5)))

    assert rows(catalog, "SELECT failed_at FROM run") == [(None,)]
    assert rows(catalog, "SELECT written_at FROM dataset_write") == [(to_micros(at(9, 5)),)]


@pytest.mark.parametrize("kinds", ["never ended", "started again"])
def test_the_order_of_events_makes_no_difference(catalogs, at, tmp_path, kinds):
    """Land each event in its own batch."""
    first = _write("FAIL", at(7), run="w0", facets=_NO_DISK)
    events = {
        "never ended": [
            *(_app("START", at(8)), _app("COMPLETE", at(8, 5))),
            *(_write("START", at(8, 1)), _write("COMPLETE", at(8, 4))),
        ],
        "started again": [
            *(_write("START", at(8)), _write("FAIL", at(8, 5), facets=_NO_DISK)),
            *(_write("START", at(8, 30)), _write("COMPLETE", at(8, 40))),
        ],
    }[kinds]
    found = set()
    for number, order in enumerate(islice(permutations([first, *events]), 0, None, 11)):
        catalog = catalogs()
        lander = Lander(catalog, Path(tmp_path, f"{number}-lake"), at(12))
        for event in order:
            lander.land(event)
        found.update(rows(catalog, "SELECT * FROM dataset_activity"))
        catalog.dispose()

    assert len(found) == 1, found


def test_a_new_dataset_whose_first_write_was_killed_is_bad_by_that_run(spark, lander, catalog, at):
    """Show `bad` instead of `learning`, and the run and its error in the incident."""
    policy = parse_policy("datasets: [{match: n/out, tier: critical}]")
    lander.land(_app("START", at(11)), _write("START", at(11, 1)), _app("COMPLETE", at(11, 5)))
    evaluate(spark, catalog, policy, at(12) + timedelta(minutes=1))

    states = "SELECT state, reason, evidence FROM dataset_state WHERE sli = 'M1'"
    [(state, reason, evidence)] = rows(catalog, states)
    assert (state, reason) == ("bad", "job_failed")
    assert f"run w1 failed 2026-11-21 11:01:00 UTC: {NEVER_ENDED}" in evidence
    with catalog.connect() as connection:
        [(key,)] = rows(catalog, "SELECT dataset_key FROM dataset")
        failure = load_failures(connection, [key])[key]
    assert (failure.run_id, failure.first_at, failure.error) == (
        *("w1", to_micros(at(11, 1)), NEVER_ENDED),
    )
