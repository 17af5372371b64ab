"""Metrics of periodic jobs: when each last ran, how long it took, how often it failed."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from service.runtime.jobs import Job

_LABELS = ("role", "periodic_job")


def job_families(jobs: Sequence[Job]) -> Iterator[Metric]:
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
