"""Metrics of datasets: new names, personal data, and limits that could not be learned."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily, Metric

from lineage.catalog.queries import is_listed
from lineage.catalog.reader import CatalogReader
from lineage.names.names import join_parts

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
_FAILED = """
SELECT count(*) FROM dataset_limit l JOIN dataset d ON d.dataset_key = l.dataset_key
WHERE l.cadence_class = 'failed' AND d.retired_at IS NULL
"""


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
    from lineage.policy.resolution import resolve  # noqa: PLC0415 - YAML only where a policy is

    counts = {"yes": 0, "no": 0}
    for namespace, name, is_tagged in reader.rows(_PERSONAL):
        if resolve(policy, namespace, name).pii:
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
