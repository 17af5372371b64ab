"""Incidents that the detector makes from the states in the catalog."""

import msgspec
import pytest
from sqlalchemy import event, update

from alerts.detection.self_monitoring import RoleFailure
from alerts.notify.message import from_json
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.policy.model import EscalationStep, Owner, Policy
from tests.alerts.detection.catalog_builder import DAY, dataset, job, micros
from tests.alerts.detection.conftest import NOON

pytestmark = pytest.mark.postgres_nightly


def test_one_fault_is_one_incident_of_the_job_at_its_root(failed):
    """Store fault, time, run and owner in the row, its members and its events."""
    assert failed.at(NOON + 120) == []
    assert failed.until(NOON + 180) == ["opened"]

    row = failed.one
    assert (row.root_entity, row.root_key, row.root_kind) == ("job", job("raw"), "failed")
    assert (row.root_namespace, row.root_name) == ("spark", "make_raw")
    assert row.what == "Job make_raw failed; 2 datasets bad"
    assert (row.state, row.owner, row.onset) == ("open", "sales", micros(NOON + 60))
    assert f"{failed.run}: boom" in row.evidence
    members = {each.dataset_key: each for each in failed.rows(tables.incident_member)}
    assert members[dataset("raw")].run_id == failed.run
    assert members[dataset("core")].explained_by == dataset("raw")
    assert [each.what for each in failed.rows(tables.incident_event)] == ["opened"]


@pytest.mark.postgres_always
def test_a_recovered_fault_is_resolved_and_its_members_leave(failed):
    """Resolve it after 45 s of good states, and keep its texts."""
    failed.at(NOON + 120)
    failed.until(NOON + 180)
    for name in ("raw", "core"):
        failed.estate.say(name, "good")
        _write(failed, name, NOON + 200)
    events = failed.until(NOON + 300)

    assert events[-1] == "resolved"
    assert failed.one.state == "resolved"
    assert failed.one.what.startswith("Job make_raw failed")
    assert all(each.left_at for each in failed.rows(tables.incident_member))


def test_a_dataset_written_since_its_evaluation_is_not_bad(failed):
    """Open no incident for a state that is older than the last write."""
    failed.estate.say("core", "bad", "late", limit_seconds=NOON + 120.0)
    failed.estate.say("raw", "good")
    _write(failed, "raw", NOON + 200)
    _write(failed, "core", NOON + 210)

    assert failed.at(NOON + 220) == []
    assert failed.rows() == []


def test_a_run_under_way_in_an_affected_dataset_is_no_fault(failed):
    """Add `mart` to the incident: `core` came just before the limit of `mart`."""
    failed.at(NOON + 120)
    failed.until(NOON + 180)
    for name in ("raw", "core"):
        failed.estate.say(name, "good")
        _write(failed, name, NOON + 200)
    failed.estate.say("mart", "bad", "late", limit_seconds=NOON + 200.0)

    assert failed.at(NOON + 215) == ["root_recovered", "joined", "left"]
    assert failed.until(NOON + 300) == []
    assert len(failed.rows()) == 1


def test_a_restart_continues_with_the_stored_incidents(failed):
    """Keep the seconds of pending incidents, and notify once."""
    failed.at(NOON + 120)
    failed.restart()
    assert failed.at(NOON + 150) == ["opened"]
    failed.restart()
    assert failed.at(NOON + 165) == []
    assert len(failed.rows()) == 1


@pytest.mark.postgres_always
def test_two_services_write_one_incident(failed):
    """Read in the second service what the first has written before it continues."""
    failed.at(NOON + 120)
    first = failed.watch
    failed.restart()
    failed.at(NOON + 135)
    second, failed.watch = failed.watch, first
    assert failed.at(NOON + 150) == ["opened"]
    failed.watch = second

    assert failed.at(NOON + 151, evaluated=False) == []
    assert len(failed.rows()) == 1


@pytest.mark.postgres_always
def test_a_pending_incident_that_recovers_is_deleted(failed):
    """Delete the row of the incident, and those of its datasets, which people could see."""
    failed.at(NOON + 120)
    assert len(failed.rows(tables.incident_member)) == 2
    for name in ("raw", "core"):
        failed.estate.say(name, "good")
        _write(failed, name, NOON + 125)
    failed.until(NOON + 200)

    assert failed.rows() == []
    assert failed.rows(tables.incident_member) == []


def test_a_dataset_that_joins_a_pending_incident_is_a_member(failed):
    """Show the datasets that are bad by now; no event reports them."""
    failed.at(NOON + 120)
    failed.estate.say("mart", "bad", "late", limit_seconds=NOON + 110.0)
    failed.at(NOON + 135)

    assert failed.one.state == "pending"
    assert failed.one.what == "Job make_raw failed; 3 datasets bad"
    assert len(failed.rows(tables.incident_member)) == 3


def test_a_planned_window_suppresses_the_incident(failed):
    """Open it when the window ends if it is still bad, and notify nobody before."""
    failed.plan("s3://shop/*", NOON + 300)
    failed.at(NOON + 120)
    assert failed.until(NOON + 180) == ["suppressed"]
    assert failed.rows(tables.notification) == []
    assert "opened" in failed.until(NOON + 330)


def test_a_window_of_the_job_suppresses_the_incident(failed):
    """Suppress the incident by a window for the name of its job."""
    failed.plan("spark/make_raw", NOON + 300)
    failed.at(NOON + 120)

    assert failed.until(NOON + 180) == ["suppressed"]


@pytest.mark.postgres_always
def test_a_command_is_applied_and_completed(failed):
    """Apply it once, and store who requested it."""
    failed.at(NOON + 120)
    failed.until(NOON + 180)
    failed.submit_command(failed.one.incident_id, "acknowledge")
    failed.submit_command(failed.one.incident_id, "acknowledge")
    assert failed.at(NOON + 181, evaluated=False) == ["acknowledged"]

    assert failed.one.acknowledged_by == "ada"
    assert failed.one.acknowledged_at == micros(NOON + 181)
    answers = [row.answer for row in failed.rows(tables.incident_command)]
    assert answers[0] == ""
    assert "it is acknowledged" in answers[1]


def test_an_escalation_without_a_step_is_rejected_with_a_reason(failed):
    """Reject it, as the owner has no escalation step."""
    failed.at(NOON + 120)
    failed.until(NOON + 180)
    failed.submit_command(failed.one.incident_id, "escalate")
    failed.at(NOON + 181, evaluated=False)

    [row] = failed.rows(tables.incident_command)
    assert "no further escalation step with a channel" in row.answer


def test_an_escalation_to_an_owner_without_a_channel_is_rejected(failed):
    """Reject the command, which would notify nobody: the person must call somebody."""
    step = EscalationStep(30, owner="nobody")
    failed.policy = Policy(owners=(Owner("sales", "#sales", None, (step,)), Owner("nobody")))
    failed.at(NOON + 120)
    failed.until(NOON + 180)
    failed.submit_command(failed.one.incident_id, "escalate")
    failed.at(NOON + 181, evaluated=False)

    [row] = failed.rows(tables.incident_command)
    assert "call the next person yourself" in row.answer


@pytest.mark.postgres_always
def test_the_owner_gets_affected_datasets_with_limits_and_links(failed):
    """Send the owner one message that lists the most severe datasets first."""
    failed.policy = Policy(owners=(Owner(name="sales", slack="#sales"),))
    failed.at(NOON + 120)
    failed.until(NOON + 180)

    [row] = failed.rows(tables.notification)
    message = from_json(row.message)
    assert row.channel == "slack:#sales"
    assert message.what == "Job make_raw failed; 2 datasets bad"
    assert [each.name for each in message.impacted] == ["board", "raw", "core", "mart"]
    assert message.tiers == (("critical", 1), ("important", 3))
    assert message.impacted[0].limit_at == micros(DAY + 3600)
    assert message.links.full_list.endswith(failed.one.incident_id)
    kept = {row.dataset_key: row.hops for row in failed.rows(tables.incident_impact)}
    assert kept == {
        dataset(name): hops for hops, name in enumerate(["raw", "core", "mart", "board"])
    }


def test_a_stopped_pipeline_is_one_page_and_freezes_all_others(failed):
    """Page once after two minutes without an evaluation, as all states are unknown."""
    failed.at(NOON + 120)
    failed.until(NOON + 180)
    events = [
        what for at in range(NOON + 181, NOON + 400, 10) for what in failed.at(at, evaluated=False)
    ]

    assert sorted(events) == ["frozen", "opened"]
    own = next(row for row in failed.rows() if row.root_entity == "service")
    assert (own.severity, own.owner, own.root_name) == ("page", "platform", "pipeline")


@pytest.mark.parametrize("role", ["pipeline", "collector", "kafka"])
def test_a_role_that_fails_for_two_minutes_is_an_incident_with_its_error(failed, role):
    """Open the incident although evaluations go on, as nothing else reports the failure."""
    words = f"{role}: failing for 2 min, 5 attempts, last error: no memory"
    failed.at(NOON + 120)
    failed.troubles = {role: RoleFailure(micros(NOON + 60), words)}
    failed.until(NOON + 180)
    assert not _service_incidents(failed)
    failed.until(NOON + 400)

    [own] = _service_incidents(failed)
    assert (own.root_name, own.onset, own.evidence) == (role, micros(NOON + 60), words)
    assert own.state in {"open", "acknowledged"}
    failed.troubles = {}
    assert "resolved" in failed.until(NOON + 700)


def _service_incidents(failed):
    return [row for row in failed.rows() if row.root_entity == "service"]


def test_a_pipeline_whose_clock_was_ahead_is_one_page_too(failed):
    """Page when the last evaluation is an hour in the future, as all states are unknown."""
    failed.at(NOON + 120)
    failed.until(NOON + 180)
    failed.estate.evaluate(NOON + 3_900)
    events = [what for at in range(NOON + 181, NOON + 400, 10) for what in failed.look(at)]

    assert sorted(events) == ["frozen", "opened"]
    own = next(row for row in failed.rows() if row.root_entity == "service")
    assert (own.severity, own.root_name) == ("page", "pipeline")
    assert failed.until(NOON + 500)[-2:] == ["thawed", "resolved"]


@pytest.mark.postgres_always
def test_events_that_were_set_aside_are_a_ticket_until_they_are_posted_again(failed):
    """Freeze no other incident, as all other events land."""
    times = {"received_at": micros(NOON), "failed_at": micros(NOON)}
    event = {"spool_seq": 7, "origin": "http", "kind": "run", "bytes": 9, "error": "odd", **times}
    with write_transaction(failed.engine) as connection:
        connection.execute(tables.event_set_aside.insert(), event)
    failed.until(NOON + 180)

    own = next(row for row in failed.rows() if row.root_entity == "service")
    assert (own.severity, own.root_kind, own.root_name) == ("ticket", "set_aside", "events")
    assert not any(row.is_frozen for row in failed.rows())
    with write_transaction(failed.engine) as connection:
        row = {"spool_seq": 7, "requested_at": micros(NOON + 180)}
        connection.execute(tables.event_requeue.insert(), row)
    assert failed.until(NOON + 400)[-1] == "resolved"


def test_an_unknown_dataset_freezes_its_incident(failed):
    """Freeze the incident when an ingestion gap hides the state of its root."""
    failed.at(NOON + 120)
    failed.until(NOON + 180)
    failed.estate.say("raw", "unknown", "ingestion_gap")
    failed.estate.say("core", "unknown", "ingestion_gap")

    assert failed.until(NOON + 300) == ["frozen"]
    assert failed.one.is_frozen


def test_the_incident_is_stored_completely(failed):
    """Store everything that the next step needs."""
    failed.at(NOON + 120)
    failed.until(NOON + 180)
    life = msgspec.json.decode(failed.one.life)

    assert sorted(life["members"]) == sorted([dataset("raw"), dataset("core")])
    assert life["revision"] == failed.one.revision == 1


def _write(watched, name, at):
    table = tables.dataset_activity
    with write_transaction(watched.engine) as connection:
        mine = update(table).where(table.c.dataset_key == dataset(name))
        connection.execute(mine.values(last_written_at=micros(at)))


@pytest.mark.postgres_always
def test_reading_does_not_wait_for_writers(failed):
    """Lock no row in a step without changes; a step that writes locks the cursor's row."""
    asked = []

    def note(_connection, _cursor, statement, *_):  # noqa: ANN002
        asked.append("FOR UPDATE" in statement)

    event.listen(failed.engine, "before_cursor_execute", note)
    failed.at(NOON + 120)
    is_locked = failed.engine.dialect.name == "postgresql"
    assert any(asked) == is_locked

    asked.clear()
    failed.look(NOON + 121)
    assert asked
    assert not any(asked)
