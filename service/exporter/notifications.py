"""Metrics of delivery: accepted, failed and waiting notifications."""

from collections.abc import Iterator
from datetime import datetime

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from alerts.notify.delivery_queries import (
    DELIVERY_FAILED,
    REPEATED,
    SENT,
    count_undelivered,
    load_counts,
    oldest_undelivered_seconds,
)
from lineage.catalog.reader import CatalogReader
from lineage.process.clock import to_micros


def delivery_families(reader: CatalogReader, now: datetime) -> Iterator[Metric]:
    """Yield the families of the outbox; none of them depends on an evaluation."""
    sent = CounterMetricFamily(
        "lineage_notifications",
        "Notifications accepted by the provider.",
        labels=("channel", "kind"),
    )
    for each in load_counts(reader, SENT):
        sent.add_metric((each.channel, each.label), each.value)
    failed = CounterMetricFamily(
        "lineage_notification_failed", "Failed delivery attempts.", labels=("channel", "reason")
    )
    for each in load_counts(reader, DELIVERY_FAILED):
        failed.add_metric((each.channel, each.label), each.value)
    repeated = CounterMetricFamily(
        "lineage_notification_repeated",
        "Notifications sent again although an earlier attempt may have arrived.",
        labels=("channel",),
    )
    for each in load_counts(reader, REPEATED):
        repeated.add_metric((each.channel,), each.value)
    yield from (sent, failed, repeated)
    yield GaugeMetricFamily(
        "lineage_notification_oldest_undelivered_seconds",
        "Age of the oldest waiting notification; 0 if none waits.",
        value=oldest_undelivered_seconds(reader, to_micros(now)),
    )
    yield GaugeMetricFamily(
        "lineage_notifications_undelivered",
        "Messages that wait.",
        value=count_undelivered(reader),
    )
