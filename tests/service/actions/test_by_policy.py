import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, insert, select

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.leases import LeadershipFence, leading, release, try_take
from lineage.lease_rules import LeaseLostError
from lineage.policy.actions import ActionRule
from lineage.policy.model import Policy
from lineage.process.clock import to_micros
from service.actions.auto_actions import AutoActions
from service.runtime.data_folder import hold_folder
from service.runtime.settings import Settings
from tests.runbooks.actions.test_notify_downstream import incident_row

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
RESTART = ActionRule(
    kind="ingestion", match="*", do="restart-role", with_={"role": "pipeline"}, dry_run=False
)


class Watched:
    """Service whose policy has one rule, with a supervisor's files that show its requests."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine, self.folder, self.now = engine, folder, NOW
        self.policy = Policy(actions=(RESTART,))
        settings = Settings(data_dir=folder)
        self.work = AutoActions(settings, lambda: self.now, lambda: self.policy)

    def open(self, name: str, **changes: object) -> None:
        """Open an incident of the pipeline at the current time."""
        at = to_micros(self.now)
        root = {"root_entity": "service", "root_kind": "ingestion", "root_name": "pipeline"}
        row = incident_row() | root | {"incident_id": name, "opened_at": at - 1, "seen_at": at}
        with write_transaction(self.engine) as connection:
            connection.execute(insert(tables.incident), row | changes)

    def turn(self, seconds: float = 11, fence: LeadershipFence | None = None) -> None:
        """Advance the clock and run the worker, with the fence of a leader if given."""
        self.now += timedelta(seconds=seconds)
        with hold_folder(self.folder / "run" / "up.lock"):
            self.work(leading(self.engine, fence) if fence else self.engine)

    def audit_rows(self) -> list[tuple[str, str, str | None]]:
        """Return person, action and the beginning of the answer of each audit row."""
        t = tables.audit.c
        with self.engine.connect() as connection:
            rows = connection.execute(select(t.who, t.action, t.answer).order_by(t.id)).all()
        return [(row.who, row.action, row.answer and row.answer.partition(":")[0]) for row in rows]


@pytest.fixture
def watched(embedded: Engine, tmp_path: Path) -> Watched:
    """Return a service with a role that runs."""
    (tmp_path / "run").mkdir()
    role = {"role": "pipeline", "state": "running", "pid": 1, "restarts": 0}
    (tmp_path / "run" / "status.json").write_text(json.dumps([role]))
    return Watched(embedded, tmp_path)


def test_an_opened_incident_runs_its_action_once(watched):
    """Run it once, however often the worker runs."""
    watched.open("inc-1")
    watched.turn()
    watched.turn()

    who = "policy for inc-1"
    texts = [(who, "act restart-role", None), (who, "act restart-role", "done")]
    assert watched.audit_rows() == texts
    assert (watched.folder / "run" / "restart-pipeline").exists()


def _lead(engine: Engine, who: str, confirm: Callable[[], None]) -> LeadershipFence:
    row = try_take(engine, "service", who, 10)
    assert row is not None
    return LeadershipFence("service", row.epoch, confirm)


def test_an_action_is_done_once_by_two_services(watched):
    """Pause one before its action has a row, and wake it when the other one has acted."""
    former = _lead(watched.engine, "a", lambda: None)
    release(watched.engine, "service", former.epoch)
    leader = _lead(watched.engine, "b", lambda: None)
    watched.open("inc-1")
    with pytest.raises(LeaseLostError):
        watched.turn(fence=former)
    assert watched.audit_rows() == []
    watched.turn(fence=leader)
    watched.turn(fence=leader)

    assert [answer for _, _, answer in watched.audit_rows()] == [None, "done"]


def test_an_action_is_never_done_twice_by_a_service_that_was_paused_before_it(watched):
    """Keep the next leader from an action whose row says that it was begun."""

    def wake() -> None:
        raise LeaseLostError("paused")

    former = _lead(watched.engine, "a", wake)
    watched.open("inc-1")
    with pytest.raises(LeaseLostError):
        watched.turn(fence=former)
    release(watched.engine, "service", former.epoch)
    watched.turn(fence=_lead(watched.engine, "b", lambda: None))

    assert [answer for _, _, answer in watched.audit_rows()] == [None]
    assert not (watched.folder / "run" / "restart-pipeline").exists()


@pytest.mark.parametrize("jump", [60, -60, 3_600, -3_600, -30 * 86_400])
def test_a_clock_that_jumps_delays_no_action(watched, jump):
    """Find the incident in the next run, whatever the clock says."""
    watched.turn()
    watched.now += timedelta(seconds=jump)
    watched.open("inc-1")
    watched.turn()

    assert [answer for _, _, answer in watched.audit_rows()] == [None, "done"]


def test_a_storm_runs_a_limited_number_of_actions(watched):
    """Run three actions an hour by default, although all incidents opened in one second."""
    for number in range(6):
        watched.open(f"inc-{number}")
    watched.turn()

    assert len({who for who, _, _ in watched.audit_rows()}) == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "acknowledged"},
        {"state": "resolved"},
        {"is_frozen": True},
        {"is_false_alarm": True},
        {"opened_at": to_micros(NOW - timedelta(hours=2))},
        {"root_kind": "failed"},
    ],
)
def test_an_acknowledged_or_old_incident_runs_no_action(watched, changes):
    """Run no action for them, nor for an incident of another kind."""
    watched.open("inc-1", **changes)
    watched.turn()

    assert watched.audit_rows() == []


def test_a_rejected_action_is_recorded_and_not_tried_again(watched):
    """Record the rejection of a rule for a role that does not run here."""
    rule = ActionRule(kind="ingestion", match="*", do="restart-role", with_={"role": "kafka"})
    watched.policy = Policy(actions=(rule,))
    watched.open("inc-1")
    watched.turn()
    watched.turn()

    assert watched.audit_rows() == [("policy for inc-1", "act restart-role", "rejected")]


def test_the_arguments_of_an_action_name_the_job(watched):
    """Replace the placeholders of the rule, in a dry run."""
    rule = ActionRule(
        kind="failed",
        match="jobs/etl",
        do="resubmit",
        with_={"namespace": "spark", "name": "{job_name}"},
    )
    watched.policy = Policy(actions=(rule,))
    job = {"root_entity": "job", "root_kind": "failed", "root_namespace": "jobs"}
    watched.open("inc-1", **job, root_name="etl")
    watched.turn()

    with watched.engine.connect() as connection:
        (detail,) = connection.scalars(select(tables.audit.c.detail)).all()
    assert json.loads(detail) == {"namespace": "spark", "name": "etl"}
