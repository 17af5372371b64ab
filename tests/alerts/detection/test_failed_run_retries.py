"""Failed runs that are retried: nobody is notified while a retry is expected."""

import pytest
from sqlalchemy import delete

from alerts.detection import due_failures, run_attempts
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.queries import split_batches
from tests.alerts.detection.catalog_builder import job
from tests.alerts.detection.conftest import NOON
from tests.alerts.detection.failed_runs import fail, write

pytestmark = pytest.mark.postgres_nightly


def test_a_quick_retry_is_silent(core):
    """Complete the next run before the 30 s are over: game day's `retried_run`."""
    fail(core)
    core.at(NOON + 70)
    write(core, at=NOON + 80)
    assert core.until(NOON + 300) == []
    assert core.rows() == []


@pytest.mark.postgres_always
def test_an_announced_retry_notifies_nobody_until_it_failed(core):
    """Fail the task's second try, which is the last: that is the message."""
    fail(core, retries_left=1)
    assert core.until(NOON + 360) == []
    last = fail(core, at=NOON + 370, retries_left=0)

    assert core.until(NOON + 420) == ["opened"]
    assert last in core.one.evidence


def test_an_announced_retry_that_does_not_come_notifies(core):
    """Notify a quarter of an hour later, as its usual wait is not known."""
    fail(core, retries_left=1)
    assert core.until(NOON + 60 + 890, every=60) == []
    assert core.until(NOON + 60 + 960, every=30) == ["opened"]


def test_beyond_the_most_faults_announced_retries_and_history_still_notify_nobody(
    core, monkeypatch
):
    """Leave unread only what earlier runs did: hundreds of tasks fail together."""
    monkeypatch.setattr(due_failures, "_MAX_FAULTS", 1)
    core.estate.add("raw", "old", "last")
    for name, at, fields in (
        ("core", NOON + 60, {"retries_left": 2}),
        ("raw", NOON + 50, {"retries_left": 2}),
        ("old", NOON + 40, {"is_history": True}),
        ("last", NOON + 30, {"retries_left": 0}),
    ):
        fail(core, name, at, **fields)
    core.until(NOON + 300, every=30)
    assert [each.root_key for each in core.rows()] == [job("last")]

    core.until(NOON + 1020, every=60)
    assert {each.root_key for each in core.rows()} == {job("core"), job("raw"), job("last")}


def test_the_runs_of_one_fault_are_read_in_batches(core, monkeypatch):
    """Stay below the parameters that a query takes, with tens of thousands of outputs."""
    read = []
    monkeypatch.setattr(
        run_attempts, "split_batches", lambda keys: split_batches(read.append(1) or keys, 1)
    )
    core.estate.add("raw")
    for name in ("core", "raw"):
        leaf = {"leaf_job_namespace": "dbt", "leaf_job_name": "build"}
        fail(core, name, retries_left=1, **leaf)
    assert core.until(NOON + 300, every=60) == []
    assert read


def test_a_retry_that_is_announced_by_the_task_above_is_awaited(core):
    """Fail an application of Spark whose Airflow task has a try left."""
    fail(core, parent_run_id="task")
    core.estate.fail("task", NOON + 50, run_id="task", retries_left=1)
    assert core.until(NOON + 300) == []


def test_a_rerun_under_way_changes_nothing_of_an_open_ticket(core):
    """Change nothing: no resolution and no second notification."""
    fail(core)
    core.until(NOON + 120)
    core.estate.start("core", NOON + 130)

    assert core.until(NOON + 400) == []
    assert core.one.state == "open"


@pytest.mark.parametrize(
    ("name", "expected"), [("core", []), ("raw", ["opened"])], ids=["same", "sibling"]
)
def test_only_a_run_of_the_same_dataset_is_a_rerun(core, name, expected):
    """Load another table by the same task: that is no rerun of this one."""
    core.estate.add("raw")
    fail(core, job_name="load")
    core.estate.start(name, NOON + 70, job_name="load")
    assert core.until(NOON + 180) == expected


def test_a_rerun_that_names_no_output_yet_is_awaited(core):
    """Wait for the rerun: Airflow names the outputs of a task at its end."""
    fail(core)
    core.estate.start("core", NOON + 70)
    with write_transaction(core.engine) as connection:
        connection.execute(delete(tables.run_io).where(tables.run_io.c.run_key == 2))
    assert core.until(NOON + 300) == []
