"""What the metrics say of personal data: what the policy calls so, and no tag does."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily, Metric

from lineage.catalog.queries import is_listed
from lineage.catalog.reader import Reader

if TYPE_CHECKING:
    from lineage.policy.model import Policy

_DATASETS = f"""
SELECT d.namespace, d.name, EXISTS (SELECT 1 FROM tag t WHERE t.dataset_key = d.dataset_key
  AND LOWER(t.tag) = 'pii' AND LOWER(t.value) NOT IN ('false', 'no', '0'))
FROM dataset d WHERE {is_listed()}
"""  # noqa: S608 - a constant


def pii_figures(reader: Reader, policy: "Policy") -> Iterator[Metric]:
    """Nothing where no rule of the policy calls anything so: nobody has said what to look for."""
    if not any(rule.pii for rule in policy.datasets):
        return
    from lineage.policy.resolution import resolve  # noqa: PLC0415 - YAML only where a policy is

    counts = {"yes": 0, "no": 0}
    for namespace, name, is_tagged in reader.rows(_DATASETS):
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
