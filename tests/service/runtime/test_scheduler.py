"""Check the registry of periodic jobs: when they run, and what is recorded of each run."""

import threading
from datetime import timedelta

import pytest
import time_machine
from structlog.testing import capture_logs

from lineage import periods
from lineage.catalog.engine import catalog_url
from lineage.process.clock import system_clock
from lineage.process.health import HEALTH
from service.runtime import scheduler
from service.runtime.jobs import (
    JobGroup,
    JobsFile,
    TryAgainError,
    all_jobs,
    job_problem,
    job_state,
    stored_jobs,
)
from service.runtime.leader import Leader
from service.runtime.scheduler import JobRegistry
from tests.service.jobs import registry_of
from tests.suite.waiting import until

_HOUR = 3_600.0
_YEAR = timedelta(days=365)


class Counted:
    """Task that counts its runs, and fails in the first ones."""

    def __init__(self, failing: int = 0, error: Exception | None = None) -> None:
        self.runs, self._failing = 0, failing
        self._error = error or ValueError("broken")

    def __call__(self) -> None:
        """Run once."""
        self.runs += 1
        if self.runs <= self._failing:
            raise self._error


def job(task, name="work", **schedule: object):
    """Make a job of one task that runs at once and then each hour."""
    schedule = {"every_seconds": _HOUR, "first_seconds": 0.0} | schedule
    return JobGroup(name=name, jobs=(name,), tasks=lambda: (task,), **schedule)


@pytest.fixture
def running():
    """Return a function that starts a registry of jobs; stop them all at the end."""
    started = []

    def start(*jobs: JobGroup):
        registry = JobRegistry("service")
        for each in jobs:
            registry.add(each)
        registry.start()
        started.append(registry)
        return registry

    yield start
    for registry in started:
        registry.stop()


def state(registry, step="work"):
    """Return the state of one step."""
    return next(each for each in registry.states() if each.job == step)


def ended(registry, step="work"):
    """Wait until a run of this step has ended; return the step's state."""
    until(lambda: state(registry, step).last_run_at)
    return state(registry, step)


def test_runs_that_were_missed_are_made_up_by_one_however_late():
    """Begin an hour late a job that is due each minute: neither 60 runs nor none."""
    task, registry = Counted(), JobRegistry("service")
    registry.add(job(task, every_seconds=60.0, first_seconds=-_HOUR - 30))
    registry.start()
    ended(registry)
    registry.stop()  # it waits for every run that has begun

    assert task.runs == 1


def test_a_job_that_hangs_delays_no_other_and_is_shown(running):
    """Block one job; let the other one run meanwhile."""
    blocked, other = threading.Event(), Counted()
    registry = running(
        job(blocked.wait, "hanging", every_seconds=0.02),
        job(other, "other", every_seconds=0.02),
    )
    try:
        until(lambda: other.runs >= 3 and state(registry, "hanging").running_since)
        found, later = state(registry, "hanging"), system_clock() + timedelta(hours=1)
    finally:
        blocked.set()

    assert (found.last_run_at, job_state(found)) == (None, "running")
    assert job_problem(found, system_clock()) is None
    hangs = "service: job hanging has been running for 1 h"
    assert (job_problem(found, later) or "").startswith(hangs)


def test_a_failed_run_is_recorded_and_the_next_one_tried_sooner(running, monkeypatch):
    """Fail three times: the fourth run comes long before the hour is over."""
    monkeypatch.setattr(periods, "_FIRST_RETRY_SECONDS", 0.01)
    task = Counted(failing=3)
    registry = running(job(task))
    until(lambda: state(registry).failures == 1)
    failed = state(registry)
    until(lambda: state(registry).last_error is None)

    assert failed.last_error == "ValueError: broken"
    assert job_problem(failed, system_clock()) == "service: job work failed: ValueError: broken"
    assert (task.runs, state(registry).failures, job_state(state(registry))) == (4, 3, "idle")


def test_a_step_that_fails_keeps_no_other_from_its_run():
    """Run the steps in their order, and record each of them."""
    registry, order = JobRegistry("service"), []

    def note(step, *, is_broken=False):
        order.append(step)
        if is_broken:
            raise ValueError(step)

    registry.add(
        JobGroup(
            name="work",
            jobs=("one", "two"),
            tasks=lambda: (lambda: note("one", is_broken=True), lambda: note("two")),
        )
    )
    registry.run("work")

    assert order == ["one", "two"]
    assert [each.last_error for each in registry.states()] == ["ValueError: one", None]
    assert [each.part for each in HEALTH.failures() if each.part in order] == ["one"]


def test_a_remote_side_without_answer_is_no_failure_of_the_role():
    """Record the error of the job alone."""
    registry = JobRegistry("service")
    registry.add(job(Counted(failing=1, error=TryAgainError("no answer")), "remote"))
    registry.run("remote")

    assert (state(registry, "remote").last_error, state(registry, "remote").failures) == (
        "no answer",
        1,
    )
    assert "remote" not in [each.part for each in HEALTH.failures()]


def test_tasks_that_cannot_be_built_fail_their_job():
    """Record it where each failure is recorded, in place of ending the thread."""

    def build():
        raise OSError("no file")

    registry = JobRegistry("service")
    registry.add(JobGroup(name="unbuilt", jobs=("unbuilt",), tasks=build))
    with capture_logs() as logged:
        registry.run("unbuilt")

    assert state(registry, "unbuilt").last_error == "OSError: no file"
    assert [each["event"] for each in logged] == ["periodic_job_failed"]


def test_a_hourly_job_of_the_leader_runs_as_soon_as_it_leads(embedded, tmp_path, monkeypatch):
    """Wait as a follower, and not for the next hour."""
    monkeypatch.setattr(scheduler, "EVERY_SECONDS", 0.02)
    leader, done = Leader("one", 3_600), []
    registry = registry_of(
        catalog_url(tmp_path),
        lambda: [done.append],
        leader=leader,
        every_seconds=_HOUR,
        first_seconds=0.0,
    )
    registry.start()
    try:
        until(lambda: state(registry).is_waiting)
        assert (done, job_state(state(registry))) == ([], "not leading")
        leader(embedded)
        ended(registry)
    finally:
        registry.stop()

    assert len(done) == 1


def test_a_job_takes_no_more_than_its_share_of_the_time(running):
    """Let a run that took a moment be followed by a pause, though its interval is over."""
    task, tick = Counted(), Counted()
    registry = running(
        job(task, every_seconds=0.02, most_share=1e-9),
        job(tick, "tick", every_seconds=0.02),
    )
    ended(registry)
    before, ran = task.runs, tick.runs
    until(lambda: tick.runs >= ran + 5)

    assert task.runs == before


@pytest.mark.parametrize("jump", [-_YEAR, _YEAR])
def test_a_clock_that_is_set_neither_delays_a_job_nor_hastens_it(running, jump):
    """Keep the intervals: seconds pass, whatever the time of day is."""
    hourly, tick = Counted(), Counted()
    registry = running(job(hourly), job(tick, "tick", every_seconds=0.02))
    ended(registry)
    with time_machine.travel(system_clock() + jump, tick=True):
        ran = tick.runs
        until(lambda: tick.runs >= ran + 5)

    ran = tick.runs
    until(lambda: tick.runs >= ran + 5)
    assert hourly.runs == 1


def test_jobs_stop_in_the_opposite_order_after_a_last_run():
    """Let the run that goes on end, run once more, and have what was begun ended."""
    order = []

    class Task:
        def __init__(self, name) -> None:
            self._name = name

        def __call__(self) -> None:
            order.append(f"{self._name} runs")

        def finish(self):
            order.append(f"{self._name} ends")

    registry = JobRegistry("service")
    for name, runs_at_stop in (("first", True), ("last", False)):
        registry.add(
            job(
                Task(name),
                name,
                first_seconds=_HOUR,
                runs_at_stop=runs_at_stop,
                close=lambda name=name: order.append(f"{name} closes"),
            )
        )
    registry.start()
    registry.stop()

    assert order == ["last ends", "last closes", "first runs", "first ends", "first closes"]


def test_a_run_that_goes_on_is_interrupted_when_the_role_stops():
    """Ask it to end before waiting for its end."""
    asked, ends = threading.Event(), []
    registry = JobRegistry("service")
    registry.add(job(lambda: ends.append(asked.wait(10)), interrupt=asked.set))
    registry.start()
    until(lambda: state(registry).running_since)
    registry.stop()

    assert ends == [True]


def test_quick_jobs_stop_before_those_with_long_intervals():
    """Store and give up what a role holds, though a slow job goes on until its end."""
    goes_on, quick = threading.Event(), Counted()
    registry = JobRegistry("service")
    registry.add(job(quick, "quick", every_seconds=1.0, first_seconds=_HOUR, runs_at_stop=True))
    registry.add(job(lambda: goes_on.wait(30), "slow"))
    registry.start()
    until(lambda: state(registry, "slow").running_since)
    stopping = threading.Thread(target=registry.stop)
    stopping.start()
    try:
        until(lambda: quick.runs)
        assert stopping.is_alive()
    finally:
        goes_on.set()
        stopping.join()


def test_a_clock_set_before_the_start_delays_no_job():
    """Run at once, also where the clock was set while the role was built."""
    task, registry = Counted(), JobRegistry("service")
    registry.add(job(task))
    with time_machine.travel(system_clock() + _YEAR, tick=True):
        registry.start()
        until(lambda: task.runs)
    registry.stop()


def test_jobs_of_a_role_are_known_to_others_while_it_runs(tmp_path, monkeypatch):
    """Write them into a file; take those of this process from its own memory."""
    monkeypatch.setattr(scheduler, "_REPORT_SECONDS", 0.02)
    monkeypatch.setattr(scheduler, "EVERY_SECONDS", 0.02)
    registry = JobRegistry("marquez", report=JobsFile(tmp_path, "marquez"))
    registry.add(job(Counted()))
    registry.start()
    try:
        until(lambda: any(each.last_run_at for each in _stored(tmp_path)))
        now, own = system_clock().timestamp(), JobRegistry("service")
        own.add(job(Counted(), "ours"))

        assert {(each.role, each.job) for each in all_jobs(tmp_path, now, own.states())} == {
            ("service", "ours"),
            ("marquez", "job_report"),
            ("marquez", "work"),
        }
        assert stored_jobs(tmp_path, now + 61) == []
        until(lambda: _reported(tmp_path).last_run_at)
        assert job_state(_reported(tmp_path)) == "idle"
        assert [each.job for each in all_jobs(tmp_path, now, registry.states())] == [
            "job_report",
            "work",
        ]
    finally:
        registry.stop()

    assert list((tmp_path / "run").iterdir()) == []


def _reported(folder):
    """Return the state of the job that writes the report, as others read it."""
    return next(each for each in _stored(folder) if each.job == "job_report")


def _stored(folder):
    return stored_jobs(folder, system_clock().timestamp())


def test_a_damaged_file_of_jobs_hides_no_other(tmp_path):
    """Ignore what cannot be read, as of a writer that was killed."""
    JobsFile(tmp_path, "service").write([])
    registry = JobRegistry("pipeline")
    registry.add(job(Counted()))
    JobsFile(tmp_path, "pipeline").write(registry.states())
    (tmp_path / "run" / "jobs-service.json").write_bytes(b"[{")

    assert [each.role for each in _stored(tmp_path)] == ["pipeline"]


def test_a_disk_that_takes_no_file_of_jobs_fails_no_role(tmp_path):
    """Record it as the error of the reporting job alone."""
    (tmp_path / "run").write_bytes(b"")  # no folder
    registry = JobRegistry("service", report=JobsFile(tmp_path, "service"))
    registry.run("job_report")

    assert "File exists" in (state(registry, "job_report").last_error or "")
    assert "job_report" not in [each.part for each in HEALTH.failures()]
