"""Datasets whose limit could not be learned because of an error of our own, as a metric."""

from prometheus_client.core import GaugeMetricFamily

from lineage.catalog.reader import Reader

_FAILED = """
SELECT count(*) FROM dataset_limit l JOIN dataset d ON d.dataset_key = l.dataset_key
WHERE l.cadence_class = 'failed' AND d.retired_at IS NULL
"""


def limit_failures(reader: Reader) -> GaugeMetricFamily:
    """Return how many datasets have no limit for that reason; 0 is right."""
    text = "Datasets whose limit could not be learned because of an internal error."
    [(failed,)] = reader.rows(_FAILED)
    return GaugeMetricFamily("lineage_limit_failures", text, value=failed)
