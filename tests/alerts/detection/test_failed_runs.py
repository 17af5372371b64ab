"""Notifications of a failed run of a dataset that matters, before the dataset is late."""

import pytest
from sqlalchemy import delete, update

from alerts.detection.due_failures import _FAILING
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from tests.alerts.detection.catalog_builder import DAY, dataset, job
from tests.alerts.detection.conftest import NOON
from tests.alerts.detection.failed_runs import fail, sent, write

pytestmark = pytest.mark.postgres_nightly


@pytest.mark.postgres_always
def test_a_failed_run_is_a_ticket_to_the_owner_within_a_minute(core):
    """Name the job and the first line of the error; the dataset is not late yet."""
    fail(core)
    assert core.until(NOON + 60 + 45) == ["opened"]

    assert (core.one.root_key, core.one.root_kind) == (job("core"), "failed")
    assert (core.one.severity, core.one.owner) == ("ticket", "sales")
    [message] = sent(core)
    assert message.what == "Job make_core failed"
    assert message.error == "[UNRESOLVED_COLUMN] no column amount"
    assert [each.state for each in message.impacted] == ["failing"]


def test_a_failed_run_of_an_optional_dataset_notifies_when_it_is_late(core):
    """Wait for the limit, also while an important one fails."""
    core.estate.add("draft", tier="optional")
    fail(core)
    fail(core, "draft")
    assert core.until(NOON + 180, every=30) == ["opened"]
    assert core.one.root_key == job("core")

    core.estate.say("draft", "bad", "job_failed", limit_seconds=NOON + 200.0)
    assert core.until(NOON + 300, every=30) == ["opened"]


def test_a_run_that_completes_resolves_it(core):
    """Resolve the incident, and send the message."""
    fail(core)
    core.until(NOON + 120)
    write(core)
    assert core.until(NOON + 720) == ["resolved"]
    assert [each.kind for each in sent(core)][-1] == "resolved"


def test_a_failure_and_its_end_need_no_evaluation(core):
    """Notify without one, which takes a minute where the machine is busy."""
    core.estate.add("raw")
    for name in ("core", "raw"):
        fail(core, name)
    assert core.look(NOON + 70) == []
    write(core, "raw", NOON + 80)
    assert [event for at in range(75, 111, 5) for event in core.look(NOON + at)] == ["opened"]
    assert core.one.root_key == job("core")


def test_owners_downstream_are_notified_once_something_is_bad(core):
    """Notify downstream owners only when a dataset is bad: a rerun may come before it is."""
    core.estate.add("revenue", owner="finance")
    core.estate.chain("core", "revenue")
    fail(core)
    core.until(NOON + 120)
    assert [each.kind for each in sent(core)] == ["opened"]

    core.estate.say("core", "bad", "job_failed", limit_seconds=NOON + 180.0)
    core.until(NOON + 240)
    assert [each.kind for each in sent(core)] == ["opened", "notice"]


def test_one_fault_stays_one_incident_when_the_dataset_is_late(core):
    """Add the dataset as a member, and send no second ticket or page."""
    fail(core)
    core.until(NOON + 120)
    core.estate.say("core", "bad", "job_failed", limit_seconds=NOON + 300.0)

    assert core.until(NOON + 400) == ["joined"]
    assert len(core.rows()) == 1
    assert [each.kind for each in sent(core)].count("opened") == 1


def test_a_failure_that_is_loaded_late_notifies_nobody(core):
    """Load a failure of two days ago."""
    core.estate.add("old")
    core.estate.clear_last_write("old")
    fail(core, "old", NOON - 2 * DAY)
    fail(core, "core", NOON + 60, is_history=True)

    assert core.until(NOON + 300) == []


def test_an_old_failure_whose_run_was_deleted_notifies_nobody(core):
    """Notify nobody: retention deleted the runs, and only the time of the failure is left."""
    core.estate.add("old")
    core.estate.clear_last_write("old")
    fail(core, "old", NOON - 2 * DAY)
    with write_transaction(core.engine) as connection:
        connection.execute(delete(tables.run_io))
        connection.execute(delete(tables.run))
    fail(core)

    assert core.until(NOON + 300, every=60) == ["opened"]
    assert core.one.root_key == job("core")


def test_an_open_ticket_stays_open_however_old_the_failure(core):
    """Let no run of the job write the dataset since."""
    fail(core)
    core.until(NOON + 120)

    assert core.at(NOON + 2 * DAY) == []
    assert core.at(NOON + 2 * DAY + 60) == []
    assert core.one.state == "open"


def test_two_models_of_two_owners_are_two_tickets(core):
    """Fail two models below one `dbt run`."""
    core.estate.add("revenue", owner="finance")
    for name in ("core", "revenue"):
        leaf = {"leaf_job_namespace": "dbt", "leaf_job_name": f"shop.{name}"}
        fail(core, name, root_job_name="dbt-run-shop", root_run_id="dbt", **leaf)
    core.until(NOON + 120)

    assert sorted(row.owner for row in core.rows()) == ["finance", "sales"]
    assert len(sent(core)) == 2


def test_a_failure_is_found_by_its_index(core):
    """Walk no table of all datasets."""
    if core.engine.dialect.name == "sqlite":
        with core.engine.connect() as connection:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {_FAILING}", {"since": 0}).all()
        assert "dataset_activity_failing" in plan[0].detail


def test_the_dataset_of_a_failed_run_is_a_member_that_is_not_bad(core):
    """Let tokens for the namespace, the dataset's page and policy actions find it."""
    run = fail(core)
    core.until(NOON + 120)
    assert members(core) == [(dataset("core"), "failing", run, True)]

    core.estate.say("core", "bad", "job_failed", limit_seconds=NOON + 180.0)
    core.until(NOON + 240)
    assert members(core) == [(dataset("core"), "failed", run, True)]

    write(core)
    core.estate.say("core", "good")
    core.until(NOON + 900)
    assert members(core) == [(dataset("core"), "failed", run, False)]


def test_a_second_dataset_of_the_job_becomes_a_member_and_leaves(core):
    """Fail the same job once more, which writes no event of the incident."""
    core.estate.add("twin")
    table = tables.dataset_activity
    with write_transaction(core.engine) as connection:
        mine = update(table).where(table.c.dataset_key == dataset("twin"))
        connection.execute(mine.values(last_job_name="make_core"))
    fail(core)
    core.until(NOON + 120)
    fail(core, "twin", NOON + 130)
    core.until(NOON + 180)
    assert [each[3] for each in members(core)] == [True, True]

    write(core, "twin", NOON + 200)
    core.until(NOON + 240)
    assert {each[0]: each[3] for each in members(core)} == {
        dataset("core"): True,
        dataset("twin"): False,
    }


def members(watched):
    """Return dataset, kind and run of each member, and whether it is one now."""
    rows = watched.rows(tables.incident_member)
    return [(each.dataset_key, each.kind, each.run_id, each.left_at is None) for each in rows]
