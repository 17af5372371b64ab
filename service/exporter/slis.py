"""Metrics of SLIs: counters, objectives, ratios, and durations and rejections of responses."""

from collections.abc import Iterator
from datetime import datetime

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from lineage.catalog.reader import CatalogReader
from lineage.states import (
    ACCURACY,
    COVERAGE,
    EDGE_COMPLETENESS,
    FRESHNESS,
    MISSING_PROVENANCE,
    NODE_COMPLETENESS,
)
from service.api.access.access_auditor import DENIED_METRIC, UNAUTHORIZED_METRIC
from service.api.served.query_timer import QUERIES_METRIC
from service.exporter import metric_rows
from service.incidents.impact.impact_clock import IMPACT_METRIC
from service.queries.slis import ObjectiveRatios, sli_name

# These count dataset-seconds, the others events.
_PER_DATASET = (COVERAGE.id, FRESHNESS.id, NODE_COMPLETENESS.id, EDGE_COMPLETENESS.id)
# By column of `sli_now`.
_NOT_COUNTED = {
    "learning": (
        "lineage_sli_learning",
        "Datasets not counted: their limit is still being learned.",
    ),
    "excepted": ("lineage_sli_excepted", "Datasets not counted: excluded by the policy."),
    "unknown": ("lineage_sli_unknown", "Datasets not counted: their state is unknown."),
}
_RATIOS = {
    COVERAGE.id: ("lineage_coverage_ratio", "Expected datasets whose lineage is reported."),
    FRESHNESS.id: ("lineage_freshness_ratio", "Datasets written within their limit."),
    NODE_COMPLETENESS.id: (
        "lineage_node_completeness_ratio",
        "Reported fields over fields that the policy requires.",
    ),
    EDGE_COMPLETENESS.id: (
        "lineage_edge_completeness_ratio",
        "Expected edges reported within their limits.",
    ),
    ACCURACY.id: (
        "lineage_accuracy_ratio",
        "Edges that agree with Spark's event logs or SQL, of those checked in 30 days.",
    ),
    MISSING_PROVENANCE.id: (
        "lineage_missing_provenance_ratio",
        "Ratio of reads of datasets without a known writer; 0 is best.",
    ),
}

_REJECTIONS = {
    DENIED_METRIC: (DENIED_METRIC, "Requests rejected by the API, by reason.", None, ["reason"]),
    UNAUTHORIZED_METRIC: (
        UNAUTHORIZED_METRIC,
        "Unauthorized accesses, by reason.",
        None,
        ["reason"],
    ),
}


def counter_families(reader: CatalogReader) -> Iterator[Metric]:
    """Yield the counters of each SLI, tier and epoch."""
    labels = ("sli", "tier", "tier_origin", "epoch")
    good = CounterMetricFamily("lineage_sli_good", "Good dataset-seconds or events.", labels=labels)
    total = CounterMetricFamily("lineage_sli", "All dataset-seconds or events.", labels=labels)
    seconds = CounterMetricFamily(
        "lineage_sli_unknown_seconds", "Dataset-seconds in neither good nor total.", labels=labels
    )
    events = CounterMetricFamily(
        "lineage_sli_unknown_events", "Events in neither good nor total.", labels=labels
    )
    for row in metric_rows.counters(reader):
        values = (sli_name(row.sli), row.tier, row.tier_origin, row.epoch)
        good.add_metric(values, row.good)
        total.add_metric(values, row.total)
        (seconds if row.sli in _PER_DATASET else events).add_metric(values, row.unknown)
    yield from (good, total, seconds, events)


def objective_family(ratios: ObjectiveRatios) -> Metric:
    """Return the objective of each SLI and tier."""
    family = GaugeMetricFamily(
        "lineage_sli_objective_ratio", "Objective of the policy.", labels=("sli", "tier")
    )
    for (sli, tier), ratio in ratios.items():
        family.add_metric((sli_name(sli), tier), ratio)
    return family


def corrected_family(reader: CatalogReader, now: datetime) -> Metric:
    """Return good over total, late events counted in the hour that they belong to; 1 is best."""
    family = GaugeMetricFamily(
        "lineage_sli_corrected_ratio",
        "Ratio of good to total in the corrected history.",
        labels=("sli", "tier", "window"),
    )
    for window, days in metric_rows.WINDOWS_DAYS.items():
        for sli, tier, good, total in metric_rows.corrected_hours(reader, now, days):
            if total:
                family.add_metric((sli_name(sli), tier, window), good / total)
    return family


def ratio_families(reader: CatalogReader, hidden: set[tuple[str, str]]) -> Iterator[Metric]:
    """Yield the ratio of each SLI now, but for those that are hidden, and what is not counted."""
    ratios = {
        sli: GaugeMetricFamily(name, text, labels=("tier",))
        for sli, (name, text) in _RATIOS.items()
    }
    asides = {
        column: GaugeMetricFamily(name, text, labels=("sli", "tier"))
        for column, (name, text) in _NOT_COUNTED.items()
    }
    for row in metric_rows.now_counts(reader):
        for column, family in asides.items():
            family.add_metric((sli_name(row.sli), row.tier), getattr(row, column))
        if row.sli in ratios and row.total and (row.sli, row.tier) not in hidden:
            ratio = row.good / row.total
            shown = 1 - ratio if row.sli == MISSING_PROVENANCE.id else ratio
            ratios[row.sli].add_metric((row.tier,), shown)
    yield from ratios.values()
    yield from asides.values()


def served_families(reader: CatalogReader) -> Iterator[Metric]:
    """Yield durations of queries by backend and kind, rejected accesses, and wrong permissions."""
    queries = HistogramMetricFamily(
        QUERIES_METRIC,
        "Time from a query to the last byte of its answer.",
        labels=("backend", "query"),
    )
    impact = HistogramMetricFamily(
        IMPACT_METRIC, "Time from a fault to the acceptance of its page by a channel."
    )
    for (metric, backend, query), found in metric_rows.served_buckets(reader).items():
        if metric == QUERIES_METRIC:
            queries.add_metric((backend, query), found.buckets, found.sum_seconds)
        elif metric == IMPACT_METRIC:
            impact.add_metric((), found.buckets, found.sum_seconds)
    yield from (queries, impact)
    counts = {name: CounterMetricFamily(*answer) for name, answer in _REJECTIONS.items()}
    for metric, label, value in metric_rows.served_counts(reader):
        if metric in counts:
            counts[metric].add_metric((label,), value)
    yield from counts.values()
