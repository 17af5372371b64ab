"""The metrics of what was served, from the catalog's sums."""

from collections.abc import Iterator

from prometheus_client.core import HistogramMetricFamily, Metric

from lineage.catalog.reader import Reader
from service import metric_rows
from service.served.queries import METRIC as QUERIES


def served_families(reader: Reader) -> Iterator[Metric]:
    """How long queries took, by backend and kind of query."""
    queries = HistogramMetricFamily(
        QUERIES, "From a query to the last byte of its answer.", labels=("backend", "query")
    )
    for (metric, backend, query), found in metric_rows.served_buckets(reader).items():
        if metric == QUERIES:
            queries.add_metric((backend, query), found.buckets, found.sum_seconds)
    yield queries
