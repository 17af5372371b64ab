"""Metrics of the roles of Lineward: their state, backlog, policy and jobs."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from lineage.policy.file import PolicyState
from service.queries.roles import RUNNING, RolePolicy, RoleStatus
from service.queries.status import load_status, spool_status
from service.runtime.jobs import PeriodicJobState
from service.runtime.settings import Settings

_LABELS = ("role", "periodic_job")


def collector_families(settings: Settings, now: datetime) -> Iterator[Metric]:
    """Yield whether the collector is up, by its spool alone."""
    if (spool := spool_status(settings.spool, now)) is not None:
        alive = float(spool.alive)
        yield GaugeMetricFamily(
            "lineage_collector_alive",
            "1 if the collector is up: heartbeat received within 5 s.",
            value=alive,
        )


def pipeline_families(settings: Settings, now: datetime, policy: PolicyState) -> Iterator[Metric]:
    """Yield how far the pipeline is behind, and the policy version of each role."""
    answer = load_status(settings, now, count_datasets=False, own_policy=policy)
    yield from policy_families(answer.policies)
    if answer.backlog_events is not None:
        name = "lineage_pipeline_backlog_events"
        yield GaugeMetricFamily(
            name,
            "Events in the spool that are not yet in the catalog.",
            value=answer.backlog_events,
        )
    if answer.last_batch_at is not None:
        at = datetime.fromisoformat(answer.last_batch_at).timestamp()
        yield GaugeMetricFamily(
            "lineage_pipeline_batch_timestamp_seconds", "Last batch committed.", value=at
        )


def role_families(roles: list[RoleStatus]) -> Iterator[Metric]:
    """Yield the metrics of the state and restarts of each role."""
    working = GaugeMetricFamily(
        "lineage_role_working",
        "1 if the role runs and reports no failure.",
        labels=("role",),
    )
    restarts = CounterMetricFamily(
        "lineage_role_restarts", "Restarts since `lineward up` started.", labels=("role",)
    )
    for role in roles:
        working.add_metric((role.role,), float(role.state == RUNNING))
        restarts.add_metric((role.role,), role.restarts)
    if roles:
        yield from (working, restarts)


def policy_families(policies: list[RolePolicy]) -> Iterator[Metric]:
    """Yield, by role, whether a policy is in force, and whether its file is rejected."""
    in_force = GaugeMetricFamily(
        "lineage_policy_in_force", "1 if the role has a valid policy in force.", labels=("role",)
    )
    rejected = GaugeMetricFamily(
        "lineage_policy_rejected",
        "1 while the policy file is rejected; the role keeps the previous policy, if any.",
        labels=("role",),
    )
    for policy in policies:
        in_force.add_metric((policy.role,), float(policy.hash is not None))
        rejected.add_metric((policy.role,), float(policy.error is not None))
    yield from (in_force, rejected)


def job_families(jobs: Sequence[PeriodicJobState]) -> Iterator[Metric]:
    """Return the metrics of the jobs of every role on this data folder; none without jobs."""
    last_run = GaugeMetricFamily(
        "lineage_periodic_job_last_run_timestamp_seconds",
        "Start of the last finished run of the periodic job.",
        labels=_LABELS,
    )
    duration = GaugeMetricFamily(
        "lineage_periodic_job_duration_seconds",
        "Duration of the last finished run of the periodic job.",
        labels=_LABELS,
    )
    failures = CounterMetricFamily(
        "lineage_periodic_job_failures",
        "Failed runs of the periodic job since its role started.",
        labels=_LABELS,
    )
    for job in jobs:
        names = (job.role, job.job)
        failures.add_metric(names, job.failures)
        if job.last_run_at is not None and job.last_seconds is not None:
            last_run.add_metric(names, datetime.fromisoformat(job.last_run_at).timestamp())
            duration.add_metric(names, job.last_seconds)
    if jobs:
        yield from (last_run, duration, failures)
