"""Metrics of datasets: states, new names, personal data, and limits that could not be learned."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from lineage.catalog.meta_keys import CHANGES_MISSED
from lineage.catalog.queries import is_listed
from lineage.catalog.reader import CatalogReader
from lineage.names.names import join_parts
from lineage.states import FRESHNESS, TIERS
from service.exporter.metric_rows import DatasetSnapshot
from service.queries.slis import sli_name

if TYPE_CHECKING:
    from lineage.policy.model import Policy

_MOST_CHARACTERS = 200  # of a pattern, which comes from outside
# The evaluation keeps the fastest growing alone.
_GROWTH = """
SELECT namespace, name, new_datasets, is_explosion FROM name_pattern
ORDER BY new_datasets DESC, namespace, name LIMIT 100
"""
_PERSONAL = f"""
SELECT d.namespace, d.name, EXISTS (SELECT 1 FROM tag t WHERE t.dataset_key = d.dataset_key
  AND LOWER(t.tag) = 'pii' AND LOWER(t.value) NOT IN ('false', 'no', '0'))
FROM dataset d WHERE {is_listed()}
"""  # noqa: S608 - a constant
_MISSED = f"SELECT value FROM meta WHERE name = '{CHANGES_MISSED}'"  # noqa: S608 - a name of ours
_FAILED = """
SELECT count(*) FROM dataset_limit l JOIN dataset d ON d.dataset_key = l.dataset_key
WHERE l.cadence_class = 'failed' AND d.retired_at IS NULL
"""


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


def name_growth(reader: CatalogReader) -> Iterator[Metric]:
    """Return new datasets per hour by pattern, and the number of `name_explosion` patterns."""
    rows = reader.rows(_GROWTH)
    counts: Counter[str] = Counter()
    for row in rows:
        # Two patterns that are alike up to there are one series.
        counts[join_parts(row.namespace, row.name)[:_MOST_CHARACTERS]] += row.new_datasets
    family = GaugeMetricFamily(
        "lineage_new_datasets_per_hour",
        "Datasets first seen in the last hour, by name pattern.",
        labels=("pattern",),
    )
    for pattern, count in counts.items():
        family.add_metric((pattern,), count)
    yield family
    text = "Name patterns that grow by at least 20 datasets an hour."
    exploding = sum(bool(row.is_explosion) for row in rows)
    yield GaugeMetricFamily("lineage_name_explosion", text, value=exploding)


def pii_figures(reader: CatalogReader, policy: "Policy") -> Iterator[Metric]:
    """Yield nothing if no rule of the policy names personal data: there is nothing to look for."""
    if not any(rule.pii for rule in policy.datasets):
        return
    from lineage.policy.resolution import decide_policy  # noqa: PLC0415 - YAML only where a policy is

    counts = {"yes": 0, "no": 0}
    for namespace, name, is_tagged in reader.rows(_PERSONAL):
        if decide_policy(policy, namespace, name).pii:
            counts["yes" if is_tagged else "no"] += 1
    family = GaugeMetricFamily(
        "lineage_pii_datasets",
        "Datasets that the policy declares as personal data, by whether a tag says so too.",
        labels=("tagged",),
    )
    for tagged, count in counts.items():
        family.add_metric((tagged,), float(count))
    yield family


def limit_failures(reader: CatalogReader) -> GaugeMetricFamily:
    """Return how many datasets have no limit for that reason; 0 is right."""
    text = "Datasets whose limit could not be learned because of an internal error."
    [(failed,)] = reader.rows(_FAILED)
    return GaugeMetricFamily("lineage_limit_failures", text, value=failed)


def missed_changes(reader: CatalogReader) -> CounterMetricFamily:
    """Return how many changes evaluations missed; 0 is right."""
    text = "Changes that evaluations missed and an evaluation of all datasets found."
    missed = sum(float(value) for (value,) in reader.rows(_MISSED))
    return CounterMetricFamily("lineage_evaluation_missed_changes", text, value=missed)
