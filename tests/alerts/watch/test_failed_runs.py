"""Notifications of a failed run of a dataset that matters, before the dataset is late."""

import pytest
from sqlalchemy import delete, update

from alerts.delivery.message import from_json
from alerts.watch import attempts, failing
from alerts.watch.failing import _FAILING
from lineage.catalog import tables
from lineage.catalog.engine import writing
from lineage.catalog.pieces import pieces
from lineage.policy.model import Owner, Policy
from tests.alerts.watch.conftest import NOON
from tests.alerts.watch.estate import DAY, dataset, job, micros

pytestmark = pytest.mark.postgres_nightly

OWNERS = tuple(Owner(name=name, slack=f"#{name}") for name in ("sales", "finance", "platform"))
DEADLINE = DAY + 3600  # each dataset was written at midnight


@pytest.fixture
def core(watched):
    """Return an important dataset that is good; its owner has a channel."""
    watched.policy = Policy(owners=OWNERS)
    watched.estate.add("core", owner="sales")
    watched.at(NOON)
    return watched


def fail(watched, name="core", at=NOON + 60, **said):  # noqa: ANN003
    """Fail a run with an error of two lines."""
    error = "[UNRESOLVED_COLUMN] no column amount\n  at line 3"
    return watched.estate.fail(name, at, **{"error_message": error} | said)


def write(watched, name="core", at=NOON + 600):
    """Write the dataset by a later run."""
    table = tables.dataset_activity
    with writing(watched.engine) as connection:
        mine = update(table).where(table.c.dataset_key == dataset(name))
        connection.execute(mine.values(last_written_at=micros(at)))


def sent(watched):
    """Return the messages, the first to be sent first."""
    return [from_json(row.message) for row in watched.rows(tables.notification)]


@pytest.mark.postgres_always
def test_a_failed_run_is_a_ticket_to_the_owner_within_a_minute(core):
    """Name the job and the first line of the error; the dataset is not late yet."""
    fail(core)
    assert core.until(NOON + 60 + 45) == ["opened"]

    assert (core.one.root_key, core.one.root_kind) == (job("core"), "failed")
    assert (core.one.severity, core.one.owner) == ("ticket", "sales")
    [message] = sent(core)
    assert message.what == "make_core failed"
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
    """And the message says so."""
    fail(core)
    core.until(NOON + 120)
    write(core)
    assert core.until(NOON + 720) == ["resolved"]
    assert [each.kind for each in sent(core)][-1] == "resolved"


def test_a_quick_retry_is_silent(core):
    """Complete the next run before the 30 s are over: game day's `retried_run`."""
    fail(core)
    core.at(NOON + 70)
    write(core, at=NOON + 80)
    assert core.until(NOON + 300) == []
    assert core.rows() == []


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
    """Not of each failed run: it may be made good before it reaches them."""
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


def usual_duration(watched, name, seconds):
    """Learn how long a run of the dataset's job takes."""
    table = tables.dataset_limit
    with writing(watched.engine) as connection:
        mine = update(table).where(table.c.dataset_key == dataset(name))
        connection.execute(mine.values(duration_seconds=seconds))


def test_it_is_a_page_once_a_rerun_cannot_meet_the_deadline(watched):
    """Page at eleven: the board is due an hour after midnight, and a run takes two."""
    watched.estate.add("board", tier="critical")
    usual_duration(watched, "board", 7200.0)
    eleven = DEADLINE - 7200
    watched.at(eleven - 300)
    fail(watched, "board", eleven - 240)
    assert watched.until(eleven - 120) == ["opened"]
    assert (watched.one.severity, watched.one.hit_at) == ("ticket", micros(DEADLINE))

    assert watched.until(eleven + 30) == ["escalated"]
    assert (watched.one.severity, watched.one.because) == ("page", "deadline")


def test_an_open_ticket_of_an_old_failure_is_a_page_before_the_deadline(watched):
    """Fail a weekly board two days before it is due."""
    watched.estate.add("board", tier="critical", owner="sales")
    usual_duration(watched, "board", 7200.0)
    watched.estate.say("board", "good", limit_seconds=3.0 * DAY)
    watched.at(NOON)
    fail(watched, "board")
    assert watched.until(NOON + 120) == ["opened"]

    assert watched.at(NOON + 2 * DAY) == []
    watched.estate.own("board", "finance")
    assert watched.at(NOON + 2 * DAY + 60) == ["handed_over"]
    assert watched.at(3 * DAY - 3600) == ["escalated"]
    assert (watched.one.severity, watched.one.because) == ("page", "deadline")


@pytest.mark.parametrize(
    ("before", "expected"), [(300, []), (-300, ["opened"])], ids=["in_time", "too_late"]
)
def test_a_retry_holds_a_page_only_while_it_can_meet_the_deadline(watched, before, expected):
    """Begin the retry this long before it would end after the deadline."""
    watched.estate.add("board", tier="critical")
    usual_duration(watched, "board", 7200.0)
    last = DEADLINE - 7200
    watched.at(last - 500)
    fail(watched, "board", last - 400, retries_left=1)
    assert watched.until(last - 310, every=30) == []
    watched.estate.start("board", last - before)

    assert watched.until(last + 420, every=60) == expected
    if not expected:
        watched.until(DEADLINE - 200, every=3600)
        watched.until(DEADLINE - 100, every=30)
    assert watched.one.severity == "page"


@pytest.mark.parametrize(
    ("tier", "duration"), [("critical", None), ("important", 7200.0)], ids=["unknown", "important"]
)
def test_it_stays_a_ticket(watched, tier, duration):
    """Never page for what is important only, or without a usual duration."""
    watched.estate.add("board", tier=tier)
    usual_duration(watched, "board", duration)
    watched.at(DEADLINE - 300)
    fail(watched, "board", DEADLINE - 240)
    watched.until(DEADLINE - 30)

    assert watched.one.severity == "ticket"


def test_a_failed_run_of_an_idle_stream_is_a_ticket(watched):
    """M2 calls it good long after its last write plus its limit: nothing is late."""
    watched.estate.add("topic", tier="critical", is_streaming=True)
    usual_duration(watched, "topic", 600.0)
    watched.at(2 * DAY)
    fail(watched, "topic", 2 * DAY + 60)
    watched.until(2 * DAY + 150)

    assert (watched.one.severity, watched.one.hit_at) == ("ticket", None)
    assert "late since" not in watched.one.evidence


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
    monkeypatch.setattr(failing, "_MOST_FAULTS", 1)
    core.estate.add("raw", "old", "last")
    for name, at, said in (
        ("core", NOON + 60, {"retries_left": 2}),
        ("raw", NOON + 50, {"retries_left": 2}),
        ("old", NOON + 40, {"is_history": True}),
        ("last", NOON + 30, {"retries_left": 0}),
    ):
        fail(core, name, at, **said)
    core.until(NOON + 300, every=30)
    assert [each.root_key for each in core.rows()] == [job("last")]

    core.until(NOON + 1020, every=60)
    assert {each.root_key for each in core.rows()} == {job("core"), job("raw"), job("last")}


def test_the_runs_of_one_fault_are_read_in_pieces(core, monkeypatch):
    """Stay below the parameters that a query takes, with tens of thousands of outputs."""
    read = []
    monkeypatch.setattr(attempts, "pieces", lambda keys: pieces(read.append(1) or keys, 1))
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
    """Neither resolves it nor notifies anew."""
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
    """Airflow names the outputs of a task at its end."""
    fail(core)
    core.estate.start("core", NOON + 70)
    with writing(core.engine) as connection:
        connection.execute(delete(tables.run_io).where(tables.run_io.c.run_key == 2))
    assert core.until(NOON + 300) == []


def test_a_failure_that_is_loaded_late_notifies_nobody(core):
    """Load a failure of two days ago."""
    core.estate.add("old")
    core.estate.unwritten("old")
    fail(core, "old", NOON - 2 * DAY)
    fail(core, "core", NOON + 60, is_history=True)

    assert core.until(NOON + 300) == []


def test_an_old_failure_whose_run_was_deleted_notifies_nobody(core):
    """Retention deletes runs; of the dataset, the time of its failure is kept."""
    core.estate.add("old")
    core.estate.unwritten("old")
    fail(core, "old", NOON - 2 * DAY)
    with writing(core.engine) as connection:
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
    with writing(core.engine) as connection:
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
