from datetime import timedelta

import pytest

from lineage.process.clock import to_micros
from lineage.process.health import Heartbeat, PartFailure
from service.queries.roles import RoleStatus, role_problem
from service.queries.timestamps import iso
from service.runtime.role_state import FORGET_SECONDS, RoleState


@pytest.fixture
def state(at):
    """Return the state of a pipeline, with a clock that tests set."""
    return _State(at)


class _State(RoleState):
    def __init__(self, at) -> None:
        self.seconds = 0.0
        super().__init__("pipeline", lambda: at(seconds=self.seconds), lambda: self.seconds)

    def role(self, *, is_running=True):
        self.look()
        return self.shown(is_running=is_running, pid=17, restarts=3)


def _failure(at, part="stream", seconds=0.0, attempts=1):
    return PartFailure(part, to_micros(at(seconds=seconds)), attempts, f"{part} broke")


def test_a_role_that_reports_nothing_runs(state):
    assert state.role() == RoleStatus("pipeline", "running", 17, 3)


def test_a_role_that_retries_is_failing_and_not_running(state, at):
    """Show it as failing when the stream restarts again and again within one process."""
    state.reported(Heartbeat([_failure(at, attempts=5)]))

    assert role_problem(state.role(), at(minutes=2)) == (
        "pipeline: failing for 2 min, 5 attempts, last error: stream: stream broke,"
        " see logs/pipeline.log"
    )


def test_the_failure_that_began_first_is_shown(state, at):
    state.reported(Heartbeat([_failure(at, "evaluation", 9), _failure(at, "stream", 3)]))

    assert state.role().error == "stream: stream broke"


def test_one_death_is_an_accident_and_two_are_a_failure(state, at):
    state.died("signal 9")
    assert (state.role().state, state.role().error) == ("running", "signal 9")
    state.seconds = 90
    state.died("exit code 1")

    role = state.role()
    assert (role.state, role.attempts, role.failing_since) == ("failing", 2, iso(to_micros(at())))


def test_a_death_keeps_what_the_process_had_reported(state, at):
    """Show the last error, which is more specific than an exit code."""
    state.reported(Heartbeat([_failure(at, attempts=6)]))
    state.died("exit code 1")

    role = state.role(is_running=False)
    assert (role.state, role.attempts, role.error) == ("restarting", 6, "stream: stream broke")


def test_a_fatal_failure_lasts_until_the_next_process_works(state, at):
    """Wait for a batch of the new pipeline, as the old one evaluated before it died."""
    state.reported(Heartbeat([_failure(at, attempts=6)]))
    state.died("exit code 1")
    state.reported(Heartbeat(worked=["evaluation"]))
    assert state.role().state == "failing"
    state.reported(Heartbeat(worked=["evaluation", "stream"]))

    assert state.role() == RoleStatus("pipeline", "running", 17, 3)


def test_a_role_that_dies_every_other_minute_stays_failing(state):
    """Show it as failing when large events kill the driver 90 s after each start."""
    for _ in range(5):
        state.died("exit code 1")
        state.seconds += 90
    assert state.role().state == "failing"
    state.seconds += FORGET_SECONDS

    assert state.role().state == "running"


@pytest.mark.parametrize("problem", ["the disk of /data is full", "the disk of /tmp is read-only"])
def test_a_role_that_waits_names_the_disk(state, at, problem):
    state.waits_for = problem
    role = state.role(is_running=False)

    assert role.state == "waiting"
    assert role_problem(role, at()) == f"pipeline: waiting: {problem}"


def test_a_clock_that_was_set_back_shows_no_negative_time(state, at):
    state.reported(Heartbeat([_failure(at, seconds=600)]))

    assert "failing for 0 s" in role_problem(state.role(), at() - timedelta(minutes=1))
