"""Metrics of events: their lag, and the failed ones."""

from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from lineage.catalog.reader import CatalogReader
from service.exporter import metric_rows
from service.queries.set_aside import count_set_aside


def lag_families(reader: CatalogReader) -> Iterator[Metric]:
    """Yield how long events took to become facts, and which events are in no lag."""
    lag = HistogramMetricFamily(
        "lineage_ingestion_lag_seconds",
        "Time from event time to commit, without history loads.",
        labels=("processing",),
    )
    asides = {
        "history": CounterMetricFamily(
            "lineage_events_history",
            "Events of history loads, not counted in SLIs.",
            labels=("processing",),
        ),
        "skewed": CounterMetricFamily(
            "lineage_events_skewed",
            "Events with a clock more than 5 minutes ahead; the arrival time is used.",
            labels=("processing",),
        ),
    }
    for processing, found in metric_rows.lag_figures(reader).items():
        lag.add_metric((processing,), found.buckets, found.sum_seconds)
        for name, family in asides.items():
            family.add_metric((processing,), found.asides[name])
    yield from (lag, *asides.values())


def set_aside_family(reader: CatalogReader) -> GaugeMetricFamily:
    """Return how many events are set aside and were not posted again."""
    text = "Set-aside events that were not requeued."
    return GaugeMetricFamily("lineage_events_set_aside", text, count_set_aside(reader))


def error_families(reader: CatalogReader) -> Iterator[Metric]:
    """Yield counters of errors; they do not fall when rows are pruned."""
    text = "Events rejected by the collector or failed in the pipeline"
    live = CounterMetricFamily("lineage_errors", f"{text}.", labels=("stage", "cause"))
    loaded = CounterMetricFamily(
        "lineage_errors_history",
        f"{text}, of history loads, not counted in SLIs.",
        labels=("stage", "cause"),
    )
    pipeline: Counter[str] = Counter()
    for stage, cause, origin, count in metric_rows.errors(reader):
        (live if origin == "live" else loaded).add_metric((stage, cause), count)
        if stage == "pipeline":
            pipeline[cause] += count
    family = CounterMetricFamily(
        "lineage_pipeline_errors", "Events that the pipeline could not process.", labels=("reason",)
    )
    for cause, count in pipeline.items():
        family.add_metric((cause,), count)
    yield from (live, loaded, family)
