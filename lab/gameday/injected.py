"""Injected faults, as the jobs of an estate experience them."""

from collections.abc import Iterable, Sequence

import msgspec

from lab.gameday.model import SimulatedJob
from lab.gameday.truth_shapes import InjectedKind

SPARK = "4.3.0"
_LEAK_STEPS = 3  # parts of a leak's time: an input less in each


class Injected(msgspec.Struct, frozen=True):
    """Fault, or an event that only looks like one. Times in µs UTC.

    Attributes:
        jobs: jobs with the fault; empty for a collector's outage.
        variant: which of several ways to do the same; of an upgrade, the new version.
        failing: jobs that fail by it beside these, as readers of a schema that changed.
        shift_seconds: of a clock that is wrong: ahead is positive.
    """

    kind: InjectedKind
    jobs: tuple[int, ...]
    starts_at: int
    ends_at: int
    variant: str = ""
    failing: tuple[int, ...] = ()
    shift_seconds: int = 0

    def is_on(self, at: int) -> bool:
        """Return whether the fault lasts at that instant."""
        return self.starts_at <= at < self.ends_at


class Circumstances(msgspec.Struct, frozen=True):
    """Behaviour and reports of a run, by all that was injected.

    Attributes:
        fate: of the run: `lost` ends without a word.
        is_reported: its listener speaks.
        inputs: that it names, which may be fewer than it reads.
        schema: number of the schema of its outputs.
        is_renamed: it writes under another name.
    """

    fate: str
    is_reported: bool
    inputs: tuple[int, ...]
    spark: str = SPARK
    code: int = 0
    schema: int = 0
    shift_seconds: int = 0
    is_renamed: bool = False


class Course:
    """Injected faults, by job."""

    def __init__(self, injected: Iterable[Injected]) -> None:
        self.all = tuple(sorted(injected, key=lambda each: each.starts_at))
        self._by_job: dict[int, list[Injected]] = {}
        for each in self.all:
            for job in {*each.jobs, *each.failing}:
                self._by_job.setdefault(job, []).append(each)

    def of(self, job: SimulatedJob) -> list[Injected]:
        """Return all that ever happens to a job, by its beginning."""
        return self._by_job.get(job.number, [])

    def postponed_to(self, job: SimulatedJob, at: int) -> int:
        """Return when a run that is due at `at` may begin."""
        held = [each.ends_at for each in self.of(job) if _holds_back(each) and each.is_on(at)]
        return max(held, default=at)

    def is_retired(self, job: SimulatedJob, at: int) -> bool:
        """Return whether the job never runs again."""
        retired = (each for each in self.of(job) if each.kind == "retired_job")
        return any(each.starts_at <= at for each in retired)

    def circumstances(
        self, job: SimulatedJob, at: int, run: int, drifted_at: Sequence[int]
    ) -> Circumstances:
        """Return what the run of a job that begins at `at` (µs UTC) does and reports.

        Args:
            job: the job.
            at: when it begins.
            run: its number, counted for this job.
            drifted_at: when each dataset was first written with a new schema, by its number; 0:
                never.
        """
        found = Circumstances("complete", job.reporting == "listener", job.inputs)
        change: dict[str, object] = {}
        for each in self.of(job):
            change |= _lasting(each, job, at)
            if each.is_on(at):
                change |= _passing(each, job, at, run, drifted_at)
        return msgspec.structs.replace(found, **change)


def _holds_back(each: Injected) -> bool:
    return each.kind in {"late_source", "planned_deployment"}


def _lasting(each: Injected, job: SimulatedJob, at: int) -> dict[str, object]:
    """Return lasting changes: the drifted schema, and from its fix on the code that declares it."""
    if each.kind != "schema_drift" or job.number not in each.jobs or at < each.starts_at:
        return {}
    return {"schema": 1, "code": int(at >= each.ends_at)}


def _passing(
    each: Injected, job: SimulatedJob, at: int, run: int, drifted_at: Sequence[int]
) -> dict[str, object]:
    is_own = job.number in each.jobs
    if each.kind in {"killed_job", "spark_upgrade"}:
        fate = each.variant if each.kind == "killed_job" else "fail"
        is_broken = each.kind == "killed_job" or job.number in each.failing
        changes: dict[str, object] = {"fate": fate} if is_broken else {}
        return changes | ({"spark": each.variant} if each.kind == "spark_upgrade" else {})
    if each.kind == "flapping_job":
        return {"fate": "fail"} if run % 3 else {}
    if each.kind == "schema_drift":
        # A reader fails once there is something of the new schema to be read.
        is_met = not is_own and any(drifted_at[one] > each.starts_at for one in job.inputs)
        return {"fate": "fail"} if is_met else {}
    others: dict[str, dict[str, object]] = {
        "silent_listener": {"is_reported": False},
        "renamed_dataset": {"is_renamed": True},
        "clock_skew": {"shift_seconds": each.shift_seconds},
        "provenance_leak": {"inputs": _leaked(each, job, at)},
    }
    return others.get(each.kind, {})


def _leaked(each: Injected, job: SimulatedJob, at: int) -> tuple[int, ...]:
    """Return the inputs that are left: first all but one, then one, then none."""
    step = (at - each.starts_at) * _LEAK_STEPS // max(1, each.ends_at - each.starts_at)
    kept = (len(job.inputs) - 1, 1, 0)[min(step, _LEAK_STEPS - 1)]
    return job.inputs[: min(kept, len(job.inputs) - 1)]
