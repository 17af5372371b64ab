"""Registry of the periodic jobs of one role, run by APScheduler.

Each job has a thread of its own: a slow one delays no other. `docs/decisions.md` says why times are
corrected when the clock is set.
"""

import logging
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

import structlog
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.interval import IntervalTrigger
from msgspec.structs import replace
from sqlalchemy.exc import SQLAlchemyError

from lineage.catalog.trouble import CatalogError
from lineage.lease_rules import LeaseLostError
from lineage.periods import retry_seconds
from lineage.process.clock import Clock, system_clock
from lineage.process.health import HEALTH
from service.runtime.jobs import (
    EVERY_SECONDS,
    RUN_ONCE,
    JobGroup,
    JobsFile,
    JobStates,
    PeriodicJobState,
    Task,
    TryAgainError,
)

_MISFIRES: Final = {RUN_ONCE: {"coalesce": True, "misfire_grace_time": None, "max_instances": 1}}
_REPORT: Final = "job_report"
_REPORT_SECONDS: Final = 5.0
_LONGEST_WAIT_SECONDS: Final = 1.0
_LEAST_JUMP_SECONDS: Final = 0.5  # a clock that is slewed moves less from one look to the next
_log = structlog.get_logger(__name__)
# It warns each second of a job that takes longer than its interval: `lineward status` shows that.
logging.getLogger("apscheduler").setLevel(logging.ERROR)


class SteadyScheduler(BackgroundScheduler):  # type: ignore[misc]  # it has no types
    """Scheduler whose intervals hold when the clock is set: APScheduler compares times of day."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - those of APScheduler
        super().__init__(timezone=UTC, **options)
        self._offset = _clock_offset()

    def begin_clock(self) -> None:
        """Forget how the clock was set until now: nothing was scheduled."""
        self._offset = _clock_offset()

    def run_in(self, job: str, seconds: float) -> None:
        """Run a job after so many seconds in place of its next run; nothing if it was removed."""
        with self._jobstores_lock:
            self._follow_clock()
            if self.get_job(job) is not None:
                self.modify_job(job, next_run_time=_after(seconds))

    def _process_jobs(self) -> float | None:
        with self._jobstores_lock:
            self._follow_clock()
        seconds: float | None = super()._process_jobs()
        # A clock set back during this look makes the next run seem far away: look again soon.
        return _LONGEST_WAIT_SECONDS if seconds is None else min(seconds, _LONGEST_WAIT_SECONDS)

    def _follow_clock(self) -> None:
        """Move the next runs by as much as the clock was set since the last look."""
        offset = _clock_offset()
        jump, self._offset = offset - self._offset, offset
        if abs(jump) < _LEAST_JUMP_SECONDS:
            return
        _log.warning("clock_was_set", seconds=round(jump, 1))
        for job in self.get_jobs():
            self.modify_job(job.id, next_run_time=job.next_run_time + timedelta(seconds=jump))


def _clock_offset() -> float:
    return time.time() - time.monotonic()


def _after(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


class JobRegistry:
    """Periodic jobs of one role, and how their last runs went."""

    def __init__(
        self,
        role: str,
        *,
        report: JobsFile | None = None,
        clock: Clock = system_clock,
    ) -> None:
        """Schedule nothing yet.

        Args:
            role: whose jobs they are.
            report: file that shows the jobs to other processes.
            clock: of the times that are shown.
        """
        self._states = JobStates(role, clock)
        self._runners: dict[str, _Runner] = {}
        self._scheduler = SteadyScheduler()
        if report is not None:
            self.add(_reporting(report, self.states))

    def add(self, group: JobGroup) -> None:
        """Add a group of jobs, before the start."""
        self._states.add(group)
        self._runners[group.name] = _Runner(group, self._states)

    def states(self) -> list[PeriodicJobState]:
        """Return the state of every job, in the order of the groups."""
        return self._states.all()

    def start(self) -> None:
        """Start every group."""
        self._scheduler.begin_clock()
        for runner in self._runners.values():
            self._schedule(runner)
        self._scheduler.start()

    def stop(self) -> None:
        """End every group, the last one first: end its run, run it once more, close it.

        Those with long intervals come after the others: their runs may take long, and what a role
        has to store, send or give up is done before it is killed.
        """
        for name, runner in self._runners.items():
            self._scheduler.remove_job(name)
            runner.group.interrupt()
        runners = [*reversed(self._runners.values())]
        for runner in sorted(runners, key=lambda each: each.group.every_seconds > EVERY_SECONDS):
            self._scheduler.remove_executor(runner.group.name)  # returns after the run that goes on
            runner.finish()
        self._scheduler.shutdown(wait=False)

    def run_leader_jobs(self) -> None:
        """Run the leader's jobs soon: they learn that another replica leads."""
        for name, runner in self._runners.items():
            if runner.group.is_leader_only:
                runner.is_asked = True  # a run that goes on plans the next one after this
                self._scheduler.run_in(name, 0)

    def run(self, name: str) -> None:
        """Run one group now, in this thread."""
        self._runners[name].run()

    def _schedule(self, runner: "_Runner") -> None:
        group = runner.group
        pool = ThreadPoolExecutor(1, {"thread_name_prefix": group.name})
        self._scheduler.add_executor(pool, group.name)
        self._scheduler.add_job(
            self._run_and_plan,
            IntervalTrigger(seconds=group.every_seconds, timezone=UTC),
            (runner,),
            id=group.name,
            executor=group.name,
            next_run_time=_after(group.first_seconds),
            **_MISFIRES[group.misfire],
        )

    def _run_and_plan(self, runner: "_Runner") -> None:
        runner.run()
        if (seconds := runner.next_in_seconds()) is not None:
            self._scheduler.run_in(runner.group.name, seconds)


def _reporting(report: JobsFile, states: Callable[[], Sequence[PeriodicJobState]]) -> JobGroup:
    return JobGroup(
        name=_REPORT,
        jobs=(_REPORT,),
        tasks=lambda: (lambda: report.write([*map(_without_this_report, states())]),),
        every_seconds=_REPORT_SECONDS,
        close=report.remove,
    )


def _without_this_report(job: PeriodicJobState) -> PeriodicJobState:
    """Leave out the run that writes the report: readers would always find it running."""
    return replace(job, running_since=None) if job.job == _REPORT else job


class _Runner:
    """Runner of the jobs of one group; one run at a time.

    Attributes:
        is_asked: to run again at once.
    """

    def __init__(self, group: JobGroup, states: JobStates) -> None:
        self.group, self._states = group, states
        self._is_waiting = True
        self._seconds = 0.0  # of the last run
        self._failures = 0  # runs in a row
        self.is_asked = False

    def run(self) -> None:
        """Run each job; one that fails keeps no other from its run."""
        began, self.is_asked = time.monotonic(), False
        outcomes = [self._attempt(job, task) for job, task in self._tasks()]
        self._failures = 0 if all(outcomes) else self._failures + 1
        self._seconds = time.monotonic() - began

    def finish(self) -> None:
        """Run once more where the group asks for it, and have tasks end what they have begun."""
        if self.group.runs_at_stop:
            self.run()
        ends = [getattr(task, "finish", None) for _, task in self._tasks()]
        for end in (*filter(None, ends), self.group.close):
            try:
                end()
            except Exception as error:  # noqa: BLE001 - the groups after it are to end too
                text = f"{type(error).__name__}: {error}"[:200]
                _log.warning("job_not_finished", group=self.group.name, error=text)

    def next_in_seconds(self) -> float | None:
        """Return when to run next, in place of the group's interval; None: by its interval."""
        every, share = self.group.every_seconds, self.group.most_share
        if self.is_asked:
            seconds = 0.0
        elif self._is_waiting:
            seconds = EVERY_SECONDS
        elif self._failures:
            seconds = min(every, retry_seconds(self._failures))
        else:
            seconds = every if share is None else max(every, self._seconds / share)
        return None if seconds == every else seconds

    def _tasks(self) -> list[tuple[str, Task]]:
        """Return what to run now; a job that cannot be made fails when it is run."""
        jobs = self.group.jobs
        try:
            tasks = self.group.tasks()
        except Exception as error:  # noqa: BLE001 - each job raises it, where errors are recorded
            tasks = [partial(_raise, error)] * len(jobs)
        if not tasks and not self._is_waiting:
            for job in jobs:
                HEALTH.succeed(job)  # another replica does it now
        if not tasks:
            for job in jobs:
                self._states.wait(job)
        self._is_waiting = not tasks
        return list(zip(jobs, tasks, strict=True)) if tasks else []

    def _attempt(self, job: str, task: Task) -> bool:
        self._states.begin(job)
        began, problem = time.monotonic(), None
        try:
            task()
        except LeaseLostError as error:
            # No failure: the work is another replica's now.
            HEALTH.succeed(job)
            _log.warning("leader_job_undone", job=job, reason=str(error))
        except TryAgainError as error:
            problem = str(error)
            _log.warning("job_tries_again", job=job, error=problem[:200])
        except (SQLAlchemyError, CatalogError) as error:
            problem = str(error)
            HEALTH.fail(job, problem)
            _log.warning("catalog_unavailable", job=job, error=problem[:200])
        except Exception as error:  # noqa: BLE001 - the edge of a thread: logged, and carried on
            problem = f"{type(error).__name__}: {error}"
            HEALTH.fail(job, problem)
            _log.exception("periodic_job_failed", job=job)
        else:
            HEALTH.succeed(job)
        self._states.end(job, time.monotonic() - began, problem)
        return problem is None


def _raise(error: Exception) -> None:
    raise error
