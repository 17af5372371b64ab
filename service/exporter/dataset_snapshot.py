"""Metrics of datasets that change with an evaluation and only then."""

from collections.abc import Iterator, Sequence

from prometheus_client.core import GaugeMetricFamily, Metric

from lineage.states import FRESHNESS, TIERS
from service.exporter.metric_rows import DatasetSnapshot
from service.queries.slis import sli_name


def standing_metrics(found: DatasetSnapshot) -> Iterator[Metric]:
    """Return the counts of all datasets, and one series for each of the most severe states."""
    yield _by_tier_and_state("lineage_datasets", "Datasets by most severe state.", found.counts)
    states = GaugeMetricFamily(
        "lineage_dataset_state",
        "1: state of a dataset that is bad or critical; the 500 most severe.",
        labels=("dataset_namespace", "dataset", "tier", "owner", "sli", "state", "reason"),
    )
    labels = ("dataset_namespace", "dataset")
    age = GaugeMetricFamily(
        "lineage_dataset_age_seconds", "Age of the newest write.", labels=labels
    )
    limit = GaugeMetricFamily("lineage_dataset_limit_seconds", "Its limit.", labels=labels)
    for row in found.listed:
        name = (row.dataset_namespace, row.dataset)
        why = (row.tier, row.owner, sli_name(row.sli), row.state, row.reason)
        states.add_metric((*name, *why), 1.0)
        if row.sli == FRESHNESS.id:
            _add(age, name, row.age_seconds)
            _add(limit, name, row.limit_seconds)
    yield from (states, age, limit)
    text = "Bad or critical datasets beyond those in lineage_dataset_state."
    yield _by_tier_and_state("lineage_dataset_other", text, found.others)
    text = "Datasets without a checksum in any stored event."
    yield _by_tier("lineage_datasets_without_checksum", text, found.without_checksum)
    yield from _gaps(found)


def _gaps(found: DatasetSnapshot) -> Iterator[Metric]:
    """Count missing parts of datasets, with a 0 where nothing is missing."""
    text = "Datasets without an owner in the policy or in events."
    zeros: dict[str, int] = dict.fromkeys(TIERS, 0)
    yield _by_tier("lineage_datasets_without_owner", text, zeros | found.without_owner)
    family = GaugeMetricFamily(
        "lineage_datasets_without_lineage",
        "Expected datasets, active in 7 days, whose newest write was not reported with inputs.",
        labels=("tier", "owner"),
    )
    for id_, count in sorted(found.without_lineage.items()):
        family.add_metric(id_, count)
    yield family


def _by_tier(name: str, text: str, counts: dict[str, int]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=("tier",))
    for tier, count in sorted(counts.items()):
        family.add_metric((tier,), count)
    return family


def _by_tier_and_state(name: str, text: str, counts: dict[tuple[str, str], int]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=("tier", "state"))
    for id_, count in sorted(counts.items()):
        family.add_metric(id_, count)
    return family


def _add(family: GaugeMetricFamily, labels: Sequence[str], value: float | None) -> None:
    if value is not None:
        family.add_metric(labels, value)
