"""Truth of injected faults: root, owner, impact and time, and the expected notification."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from lab.gameday.injected import Injected
from lab.gameday.model import DAY, HOUR, Estate, SimulatedJob, other_name
from lab.gameday.policy import PLATFORM, joined_name
from lab.gameday.truth_shapes import SILENT_KINDS, Expect, Fault, NamePattern
from lineage.policy.model import Suppression
from lineage.process.clock import EPOCH

COLLECTOR: Final = NamePattern("", "*collector*")
REST: Final = 8 * HOUR  # downstream of a fixed job catches up within a morning


def is_outage(each: Injected) -> bool:
    """Return whether the collector is down: this affects everything, and no dataset causes it."""
    return each.kind == "collector_outage"


def causes(each: Injected) -> tuple[int, ...]:
    """Return the numbers of the jobs at fault."""
    return each.failing if each.kind == "spark_upgrade" else each.jobs


def affected_by(estate: Estate, each: Injected) -> frozenset[int]:
    """Return the datasets that the fault may affect."""
    own = frozenset(written for job in causes(each) for written in estate.jobs[job].outputs)
    return own | estate.descendants(own) if each.kind != "holiday" else own


def truth_of(estate: Estate, each: Injected) -> Fault:
    """Return the truth of a fault, for the scorer."""
    jobs = [estate.jobs[number] for number in causes(each)]
    own = frozenset(written for job in jobs for written in job.outputs)
    impact = estate.descendants(own)
    return Fault(
        kind=each.kind,
        expect=_expected(estate, each, own | impact),
        causes=tuple(_names_of(estate, each, jobs, own)),
        owners=_owners(estate, each, jobs),
        impact=tuple(sorted(NamePattern(*estate.datasets[number].full_name) for number in impact)),
        behind=tuple(sorted(_jobs_of(estate, impact))),
        starts_at=each.starts_at,
        ends_at=each.ends_at,
        over_at=each.ends_at + _rest_of(each, jobs),
        variant=each.variant,
        is_spread=each.kind == "spark_upgrade",
    )


def _jobs_of(estate: Estate, datasets: Iterable[int]) -> set[NamePattern]:
    jobs = (estate.writer_of[number] for number in datasets)
    return {name for job in jobs for name in _names_of_job(estate, job)}


def _names_of_job(estate: Estate, job: SimulatedJob) -> Iterable[NamePattern]:
    """Yield the names of the job and of the job that starts it."""
    for name in dict.fromkeys((job.root_name, *estate.names_of(job))):
        yield NamePattern(estate.namespace_of(job), name)


def _rest_of(each: Injected, jobs: Iterable[SimulatedJob]) -> int:
    """Return the remaining time; one run longer where only the next run's events show it."""
    is_shown_next = each.kind in {"silent_listener", "provenance_leak", "collector_outage"}
    is_daily = is_outage(each) or any(job.cadence in {"daily", "weekday"} for job in jobs)
    return REST + (DAY if is_shown_next and is_daily else 0)


def _expected(estate: Estate, each: Injected, affected: frozenset[int]) -> Expect:
    if each.kind in SILENT_KINDS or each.variant == "ahead":
        return "silence"
    if is_outage(each) or estate.is_critical(affected):
        return "page"
    return "ticket"


def _names_of(
    estate: Estate, each: Injected, jobs: Iterable[SimulatedJob], own: frozenset[int]
) -> Iterable[NamePattern]:
    if is_outage(each):
        yield COLLECTOR
    if each.kind == "spark_upgrade":
        yield NamePattern("", f"*{each.variant}*")
    for job in jobs:
        yield from _names_of_job(estate, job)
    for number in sorted(own):
        name = estate.datasets[number].full_name
        yield NamePattern(*name)
        if each.kind == "renamed_dataset":
            yield NamePattern(*other_name(name))


def _owners(estate: Estate, each: Injected, jobs: Iterable[SimulatedJob]) -> tuple[str, ...]:
    """Return the owners: the platform for an outage or upgrade, and each team that it broke."""
    teams = [estate.namespace_of(job) for job in jobs]
    is_shared = is_outage(each) or each.kind == "spark_upgrade"
    return tuple(dict.fromkeys([PLATFORM, *teams] if is_shared else teams))


def standing_gaps(estate: Estate) -> Iterable[NamePattern]:
    """Yield unreported datasets, and the jobs that should report them."""
    for job in estate.jobs:
        if job.reporting != "listener":
            yield NamePattern(estate.namespace_of(job), job.name)
            yield NamePattern("default", job.name)
            yield from (NamePattern(*estate.datasets[each].full_name) for each in job.outputs)


def windows(estate: Estate, injected: Iterable[Injected]) -> Iterable[Suppression]:
    """Yield the windows of planned deployments: each waiting dataset by name."""
    for place, each in enumerate(injected):
        if each.kind == "planned_deployment":
            affected = sorted(affected_by(estate, each))
            start, end = (
                EPOCH + timedelta(microseconds=at) for at in (each.starts_at, each.ends_at)
            )
            for number in affected:
                match = joined_name(estate.datasets[number])
                name = f"deployment {place} of {estate.datasets[number].name}"
                yield Suppression(name, match, start, end + timedelta(hours=4))
