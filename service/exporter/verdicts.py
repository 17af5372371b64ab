"""Metrics of verdicts on incidents: how often a notification was true."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, Metric

from alerts.operator_actions.verdicts import METRIC, count_verdicts
from lineage.catalog.reader import Reader


def verdict_families(reader: Reader) -> Iterator[Metric]:
    """Yield verdicts by kind of fault: precision is 1 - false_alarm / judged."""
    family = CounterMetricFamily(
        METRIC, "Incidents with a verdict of a person, by kind.", labels=("kind", "verdict")
    )
    for each in count_verdicts(reader):
        family.add_metric((each.kind, each.verdict), each.count)
    yield family
