"""Metrics of notifications."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine

from alerts.notify.channels.name import parse_channel
from alerts.notify.outbox import add_count, enqueue
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import open_reader
from lineage.process.clock import to_micros
from service.exporter.notifications import delivery_families
from tests.alerts.notify.messages import message

pytestmark = pytest.mark.postgres_nightly

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
_OLDEST = ("lineage_notification_oldest_undelivered_seconds",)
_WAITING = ("lineage_notifications_undelivered",)


def _samples(catalog: Engine):
    with open_reader(catalog.url.render_as_string(hide_password=False)) as reader:
        return {
            (one.name, *one.labels.values()): one.value
            for family in delivery_families(reader, NOW)
            for one in family.samples
        }


def test_without_notifications_nothing_waits(catalog):
    """Show no series of a channel that was never used."""
    assert _samples(catalog) == {_OLDEST: 0, _WAITING: 0}


def test_sent_failed_repeated_and_waiting_messages_are_shown(catalog):
    """Count by channel and by kind or reason, and show a message that waits for 90 s."""
    answer = to_micros(NOW - timedelta(seconds=90))
    with write_transaction(catalog) as connection:
        enqueue(connection, message(at=answer), parse_channel("slack:C1"))
        for _ in range(2):
            add_count(connection, "sent", "slack:C1", "opened")
        add_count(connection, "failed", "slack:C1", "rate_limited")
        add_count(connection, "repeated", "slack:C1")

    assert _samples(catalog) == {
        ("lineage_notifications_total", "slack:C1", "opened"): 2,
        ("lineage_notification_failed_total", "slack:C1", "rate_limited"): 1,
        ("lineage_notification_repeated_total", "slack:C1"): 1,
        _OLDEST: 90,
        _WAITING: 1,
    }
