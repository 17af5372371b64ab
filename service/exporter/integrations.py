"""Metrics of a Marquez and of a Kubernetes beside us; without one, there are none.

A probe or a comparison that is too old is left out: its figures are no longer of now.
"""

from collections.abc import Iterator
from datetime import datetime

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from lineage.catalog.reader import CatalogReader
from service.queries.applications import kubernetes_status
from service.queries.marquez_status import (
    ComparisonStatus,
    ForwardingStatus,
    MarquezStatus,
    ProbeStatus,
    PullStatus,
)

STALE_PROBE_SECONDS = 300.0
STALE_COMPARISON_SECONDS = 10_800.0


def marquez_families(found: MarquezStatus) -> Iterator[Metric]:
    """Yield the metrics of `docs/metrics.md` whose names begin with `lineage_marquez_`."""
    if found.forwarding is not None:
        yield from _forwarding(found.forwarding)
    if found.pulling:
        yield from _pulling(found, found.pulling)
    if found.probe is not None and _is_fresh(found.probe.age_seconds, STALE_PROBE_SECONDS):
        yield from _probe(found.probe)
    compared = found.comparison
    if compared is not None and _is_fresh(compared.age_seconds, STALE_COMPARISON_SECONDS):
        yield from _comparison(compared)


def _is_fresh(age_seconds: float | None, most: float) -> bool:
    return age_seconds is not None and age_seconds <= most


def _forwarding(found: ForwardingStatus) -> Iterator[Metric]:
    yield _counter("forwarded", "Events that Marquez acknowledged.", found.forwarded)
    text = "Events deleted from a full spool before they were sent to Marquez."
    yield _counter("unforwarded", text, found.unforwarded)
    aside = CounterMetricFamily(
        "lineage_marquez_set_aside", "Events that Marquez rejected.", labels=("reason",)
    )
    for reason, count in found.set_aside.items():
        aside.add_metric((reason,), count)
    yield aside
    if found.waiting_events is not None:
        name = "forward_backlog_events"
        yield _gauge(
            name, "Events in the spool that are not yet sent or set aside.", found.waiting_events
        )


def _pulling(found: MarquezStatus, pulls: list[PullStatus]) -> Iterator[Metric]:
    yield _counter("pulled", "Events of Marquez that were taken.", found.pulled)
    yield _counter("pull_refused", "Events of Marquez that were rejected.", found.pull_rejected)
    newest = max(datetime.fromisoformat(pull.through).timestamp() for pull in pulls)
    yield _gauge("pull_timestamp_seconds", "Time of the last complete poll for new events.", newest)


def _probe(probe: ProbeStatus) -> Iterator[Metric]:
    yield _gauge("up", "1 if the last probe succeeded.", float(probe.is_answered))
    if probe.seconds is not None:
        text = "Duration of the last probe of Marquez's lineage query."
        yield _gauge("probe_seconds", text, probe.seconds)


def _comparison(found: ComparisonStatus) -> Iterator[Metric]:
    missing = GaugeMetricFamily(
        "lineage_marquez_missing_runs",
        "Runs of the last sample that are missing on this side; `there` is Marquez.",
        labels=("side",),
    )
    missing.add_metric(("there",), found.missing_there)
    missing.add_metric(("here",), found.missing_here)
    yield missing
    compared = GaugeMetricFamily(
        "lineage_marquez_compared_runs",
        "Runs compared in the last sample, by side.",
        labels=("side",),
    )
    compared.add_metric(("there",), found.sampled_ours)
    compared.add_metric(("here",), found.sampled_theirs)
    yield compared


def _counter(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(f"lineage_marquez_{name}", text, value=value)


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"lineage_marquez_{name}", text, value=value)


def kubernetes_families(reader: CatalogReader, now: datetime) -> Iterator[Metric]:
    """Yield nothing where no namespace was ever watched."""
    if (watched := kubernetes_status(reader, now)) is None:
        return
    jobs = GaugeMetricFamily(
        "lineage_spark_application_jobs",
        "Jobs that run as SparkApplications, by whether they have the listener.",
        labels=("listener",),
    )
    for listener, count in watched.jobs.items():
        jobs.add_metric((listener,), count)
    working = GaugeMetricFamily(
        "lineage_kubernetes_watch_working",
        "1 while the watch of a resource in a namespace works.",
        labels=("resource", "kube_namespace"),
    )
    for watch in watched.watches:
        working.add_metric((watch.resource, watch.kube_namespace), float(watch.problem is None))
    yield from (jobs, working)
