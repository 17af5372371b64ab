"""Periodic jobs of a role: what they are, and how their last runs went.

Nothing here imports the scheduler: the command line reads the state of jobs, and must start soon.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from lineage.process.clock import Clock, system_clock, to_micros
from lineage.process.health import one_line
from service.queries.run_shapes import IsoTime
from service.queries.timestamps import iso, short_duration

EVERY_SECONDS: Final = 1.0
# Runs that were missed are made up by one run, however late; a job never runs beside itself.
RUN_ONCE: Final = "run_once"
_STALE_SECONDS: Final = 60.0  # a role writes its file every 5 s
_LONG_SECONDS: Final = 60.0  # a run that lasts longer may hang
_FOLDER: Final = "run"

Task = Callable[[], None]


class TryAgainError(Exception):
    """Error: a job could not do its work for a reason outside of this role.

    It is the job's last error, and no failure of the role.
    """


class JobGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Periodic jobs that run one after the other, in a thread of their own.

    Attributes:
        name: of the group and its thread.
        jobs: names of its tasks, in their order.
        tasks: returns the tasks of the moment; none while this replica must not run them.
        every_seconds: from the beginning of a run to that of the next one.
        first_seconds: from the start of the role to the first run.
        misfire: rule for runs that could not begin in time.
        is_leader_only: of several replicas only the leader runs it.
        runs_at_stop: run once more when the role stops.
        most_share: of the time that its runs may take; None: as much as they need.
        interrupt: called when the role begins to stop, for a run that goes on to end early.
        close: called last.
    """

    name: str
    tasks: Callable[[], Sequence[Task]]
    jobs: tuple[str, ...]
    every_seconds: float = EVERY_SECONDS
    first_seconds: float = EVERY_SECONDS
    misfire: str = RUN_ONCE
    is_leader_only: bool = False
    runs_at_stop: bool = False
    most_share: float | None = None
    interrupt: Callable[[], None] = lambda: None
    close: Callable[[], None] = lambda: None


class PeriodicJobState(msgspec.Struct, frozen=True, kw_only=True):
    """State of one job, as `lineward status` shows it.

    Attributes:
        role: that runs it.
        job: its name.
        every_seconds: interval of its runs.
        misfire: rule for runs that could not begin in time.
        is_leader_only: of several services only the leader runs it.
        is_waiting: it does not run now: another service leads, or there is no catalog yet.
        running_since: beginning of the run that goes on; null: none goes on.
        last_run_at: beginning of the last run that ended; null: none has ended.
        last_seconds: duration of that run.
        last_error: of that run; null: it succeeded.
        failures: runs that failed since the role started.
    """

    role: str
    job: str
    every_seconds: float
    misfire: str = RUN_ONCE
    is_leader_only: bool = False
    is_waiting: bool = False
    running_since: IsoTime | None = None
    last_run_at: IsoTime | None = None
    last_seconds: float | None = None
    last_error: str | None = None
    failures: int = 0


def job_state(job: PeriodicJobState) -> str:
    """Return the state in words; failing is the last run, whatever goes on now."""
    if job.last_error is not None:
        return "failing"
    if job.running_since is not None:
        return "running"
    if job.is_waiting and job.is_leader_only:
        return "not leading"
    return "not started" if job.is_waiting or job.last_run_at is None else "idle"


def job_problem(job: PeriodicJobState, now: datetime) -> str | None:
    """Return a sentence on a job that fails or hangs; None where it works."""
    if job.last_error is not None:
        return f"{job.role}: job {job.job} failed: {job.last_error}"
    if job.running_since is None:
        return None
    seconds = (now - datetime.fromisoformat(job.running_since)).total_seconds()
    if seconds < _LONG_SECONDS:
        return None
    return f"{job.role}: job {job.job} has been running for {short_duration(seconds)}"


class JobStates:
    """States of the jobs of one role. Each job has one writer at a time; anybody may read."""

    def __init__(self, role: str, clock: Clock = system_clock) -> None:
        self._role, self._clock = role, clock
        self._states: dict[str, PeriodicJobState] = {}

    def add(self, group: JobGroup) -> None:
        """Add the jobs of a group, which have not run yet."""
        for job in group.jobs:
            self._states[job] = PeriodicJobState(
                role=self._role,
                job=job,
                every_seconds=group.every_seconds,
                misfire=group.misfire,
                is_leader_only=group.is_leader_only,
            )

    def all(self) -> list[PeriodicJobState]:
        """Return the state of every job, in the order of the groups."""
        return list(self._states.values())

    def wait(self, job: str) -> None:
        """Record that a job does not run now."""
        self._change(job, is_waiting=True, running_since=None, last_error=None)

    def begin(self, job: str) -> None:
        """Record that a run begins."""
        self._change(job, is_waiting=False, running_since=iso(to_micros(self._clock())))

    def end(self, job: str, seconds: float, error: str | None) -> None:
        """Record how a run ended; `error`: None if it succeeded."""
        before = self._states[job]
        self._change(
            job,
            running_since=None,
            last_run_at=before.running_since,
            last_seconds=round(seconds, 6),
            last_error=None if error is None else one_line(error),
            failures=before.failures + (error is not None),
        )

    def _change(self, job: str, **changes: object) -> None:
        self._states[job] = replace(self._states[job], **changes)


class JobsFile:
    """`run/jobs-ROLE.json`: the jobs of one role, for `lineward status` and the service."""

    def __init__(self, data_dir: Path, role: str) -> None:
        self._path = data_dir / _FOLDER / f"jobs-{role}.json"

    def write(self, jobs: Sequence[PeriodicJobState]) -> None:
        """Replace the file.

        Raises:
            TryAgainError: the disk does not take it.
        """
        scratch = self._path.with_suffix(".new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            scratch.write_bytes(msgspec.json.encode(jobs))
            scratch.replace(self._path)
        except OSError as error:
            with suppress(OSError):
                scratch.unlink(missing_ok=True)
            raise TryAgainError(str(error)) from error

    def remove(self) -> None:
        """Remove the file: the role ends."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def stored_jobs(data_dir: Path, now: float) -> list[PeriodicJobState]:
    """Return the jobs of every role that wrote its file within a minute; `now` in seconds."""
    found = []
    for path in sorted((data_dir / _FOLDER).glob("jobs-*.json")):
        with suppress(OSError, msgspec.DecodeError):
            if abs(now - path.stat().st_mtime) <= _STALE_SECONDS:
                found += msgspec.json.decode(path.read_bytes(), type=list[PeriodicJobState])
    return found


def all_jobs(
    data_dir: Path, now: float, own: Iterable[PeriodicJobState] = ()
) -> list[PeriodicJobState]:
    """Return the jobs of every role beside this one; `own` replaces what its file says."""
    own = list(own)
    roles = {job.role for job in own}
    return [*own, *(job for job in stored_jobs(data_dir, now) if job.role not in roles)]
