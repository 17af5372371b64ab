"""Metrics of responses, from the catalog's sums."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

from lineage.catalog.reader import CatalogReader
from service.api.access.access_auditor import DENIED, UNAUTHORIZED
from service.api.served.queries import METRIC as QUERIES
from service.exporter import metric_rows
from service.incidents.impact.clock import METRIC as IMPACT

_COUNTS = {
    DENIED: (DENIED, "Requests rejected by the API, by reason.", None, ["reason"]),
    UNAUTHORIZED: (UNAUTHORIZED, "Unauthorized accesses, by reason.", None, ["reason"]),
}


def served_families(reader: CatalogReader) -> Iterator[Metric]:
    """Yield durations of queries by backend and kind, rejected accesses, and wrong permissions."""
    queries = HistogramMetricFamily(
        QUERIES, "Time from a query to the last byte of its answer.", labels=("backend", "query")
    )
    impact = HistogramMetricFamily(
        IMPACT, "Time from a fault to the acceptance of its page by Slack or PagerDuty."
    )
    for (metric, backend, query), found in metric_rows.served_buckets(reader).items():
        if metric == QUERIES:
            queries.add_metric((backend, query), found.buckets, found.sum_seconds)
        elif metric == IMPACT:
            impact.add_metric((), found.buckets, found.sum_seconds)
    yield from (queries, impact)
    counts = {name: CounterMetricFamily(*answer) for name, answer in _COUNTS.items()}
    for metric, label, value in metric_rows.served_counts(reader):
        if metric in counts:
            counts[metric].add_metric((label,), value)
    yield from counts.values()
