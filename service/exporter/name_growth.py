"""F3, over-granular growth, as metrics: which patterns of names grow, and whether any explodes."""

from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric

from lineage.catalog.reader import Reader
from lineage.names.names import join_parts

_MOST_CHARACTERS = 200  # of a pattern, which comes from outside
# The evaluation keeps the fastest growing alone.
_GROWTH = """
SELECT namespace, name, new_datasets, is_explosion FROM name_pattern
ORDER BY new_datasets DESC, namespace, name LIMIT 100
"""


def name_growth(reader: Reader) -> Iterator[Metric]:
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
