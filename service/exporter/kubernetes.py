"""Metrics of SparkApplications, and of how well they are watched."""

from collections.abc import Iterator
from datetime import datetime

from prometheus_client.core import GaugeMetricFamily, Metric

from lineage.catalog.reader import CatalogReader
from service.queries.applications import kubernetes_status


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
