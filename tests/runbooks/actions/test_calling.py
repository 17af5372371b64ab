import pytest
from sqlalchemy.exc import OperationalError

from runbooks.actions import calling
from runbooks.actions.calling import Call, call_action
from runbooks.actions.errors import (
    FailedActionError,
    ForbiddenActionError,
    InvalidActionError,
    RejectedActionError,
)
from runbooks.actions.registry import ACTIONS
from tests.runbooks.actions.acting import World
from tests.suite.disks import fill

UP = {"pipeline": "running", "service": "running"}


def test_a_dry_run_has_one_row_and_its_plan(world):
    """Record who ran it, how and for what, and that nothing was done."""
    world.supervisor.running = UP
    answer = world.act("restart-role", is_dry=True, role="pipeline")

    assert (answer.dry_run, answer.done) == (True, None)
    assert answer.plan.does == ("stop the role pipeline, which is running, and start it again",)
    assert world.audited() == [("ann", "cli", "act restart-role", '{"role":"pipeline"}', "dry run")]


def test_an_action_has_a_row_before_and_one_after(world):
    """Leave the first row, without an answer, where a process ends half way."""
    world.supervisor.running = UP
    world.act("restart-role", role="pipeline")

    assert [row[4] for row in world.audited()] == [
        None,
        "done: asked for a restart of pipeline: `lineward status` counts it",
    ]
    assert world.supervisor.asked == ["pipeline"]


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("restart", {}, InvalidActionError),
        ("restart-role", {}, InvalidActionError),
        ("restart-role", {"role": "pipeline", "now": True}, InvalidActionError),
        ("restart-role", {"role": "../x"}, InvalidActionError),
        ("restart-role", {"role": "pipeline"}, RejectedActionError),
        ("resubmit", {"namespace": "jobs", "name": "orders"}, RejectedActionError),
        ("replay", {"from": "2026-11-21"}, InvalidActionError),
        ("reinfer", {"run": "nobody's"}, InvalidActionError),
        ("requeue-rejected", {}, RejectedActionError),
        ("remove-collector", {"name": "c-1"}, InvalidActionError),
        ("notify-downstream", {"note": "x"}, InvalidActionError),
        ("open-suppression", {"pattern": "*", "reason": "x"}, InvalidActionError),
    ],
)
@pytest.mark.parametrize("is_dry", [True, False])
def test_rejected_actions_are_in_the_audit_log(world, name, arguments, error, is_dry):
    """Record the reason, dry or not, and change nothing else."""
    before = world.everything()
    with pytest.raises(error):
        call_action(Call(name=name, arguments=arguments, is_dry=is_dry), world.context())

    ((who, via, action, _, answer),) = world.audited()
    assert (who, via, action) == ("ann", "cli", f"act {name}")
    assert answer.startswith("rejected: ")
    assert world.everything() == before


def test_a_user_without_permission_may_plan_an_action(world):
    """Plan it for anybody: an API that is open to all has no admins."""
    world.supervisor.running = UP
    asked = {"name": "restart-role", "arguments": {"role": "service"}, "is_allowed": False}

    assert call_action(Call(**asked, is_dry=True), world.context()).dry_run
    with pytest.raises(ForbiddenActionError, match="lineward act"):
        call_action(Call(**asked, is_dry=False), world.context())
    assert world.supervisor.asked == []
    assert [row[4][:8] for row in world.audited()] == ["dry run", "rejected"]


def test_an_action_that_fails_half_way_is_recorded_as_failed(world, monkeypatch):
    """Fail by an expected error, and by an unexpected one."""
    world.supervisor.running = UP
    for error in (FailedActionError("gone"), ValueError("secret of a library")):

        def broken(_role, error=error):
            raise error

        monkeypatch.setattr(world.supervisor, "ask_to_restart", broken)
        with pytest.raises(type(error)):
            world.act("restart-role", role="service")

    answers = [row[4] for row in world.audited()]
    assert answers == [None, "failed: gone", None, "failed: ValueError"]


@pytest.fixture
def full_disk_world(on_disk, disk):
    """Create a world whose catalog is on a disk that is full."""
    world = World(on_disk, disk)
    world.supervisor.running = UP
    fill(disk, on_disk)
    return world


def test_no_action_runs_without_its_audit_row(full_disk_world, disk):
    """Store the row before the action begins; with space again, store both."""
    with pytest.raises(OperationalError, match="full"):
        full_disk_world.act("restart-role", role="service")
    assert full_disk_world.supervisor.asked == []

    (disk / "ballast").unlink()
    assert full_disk_world.audited() == []
    full_disk_world.act("restart-role", role="service")
    assert full_disk_world.supervisor.asked == ["service"]
    assert len(full_disk_world.audited()) == 2


def test_an_action_without_its_first_row_would_be_detected(full_disk_world, monkeypatch):
    """Leave the first row out (mutant) on the same full disk."""
    record = calling.add_durable_entry
    monkeypatch.setattr(
        calling, "add_durable_entry", lambda engine, entry: entry.answer and record(engine, entry)
    )

    with pytest.raises(OperationalError, match="full"):
        full_disk_world.act("restart-role", role="service")
    assert full_disk_world.supervisor.asked == ["service"]


def test_text_that_no_catalog_can_store_is_cleaned_and_cut(world):
    """Store a NUL and half a surrogate pair of a name from outside, cut."""
    with pytest.raises(InvalidActionError):
        world.act("restart-role", role="a\0" + "x" * 5_000)

    assert len(world.audited()[0][3]) == 1_000


def test_every_action_is_called_by_its_own_name():
    """List them in the order of the pages, each with a sentence."""
    assert sorted(ACTIONS) == [
        "notify-downstream",
        "open-suppression",
        "reinfer",
        "remove-collector",
        "replay",
        "requeue-notifications",
        "requeue-rejected",
        "requeue-set-aside",
        "restart-role",
        "resubmit",
    ]
    assert all(one.says.endswith(".") for one in ACTIONS.values())
    assert calling.ACTIONS is ACTIONS
