"""Metrics of suppression windows that are active now."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily, Metric

from lineage.catalog.reader import Reader
from service.queries.suppressions import suppressions

if TYPE_CHECKING:
    from lineage.policy.model import Policy

MOST_LISTED = 50


def window_figures(reader: Reader, policy: "Policy", now: datetime) -> Iterator[Metric]:
    """Yield active windows by name, those that end first; without one, the family is empty."""
    family = GaugeMetricFamily(
        "lineage_suppression_active",
        f"Active suppression windows of this name; the {MOST_LISTED} that end first.",
        labels=("name",),
    )
    rows = suppressions(reader, policy, now).suppressions
    names = Counter(row.name for row in rows if row.state == "active")
    for name, count in list(names.items())[:MOST_LISTED]:
        family.add_metric((name,), float(count))
    yield family
