"""Metrics of delivery."""

from concurrent.futures import ThreadPoolExecutor, wait

from sqlalchemy import select

from alerts.notify.delivery_queries import oldest_undelivered_seconds
from alerts.notify.outbox import add_count
from lineage.catalog.engine import write_transaction
from lineage.catalog.tables import notification_count
from tests.alerts.notify.conftest import DATA, PAGER
from tests.alerts.notify.messages import message


def _oldest(notifier) -> float:
    with notifier.reader() as reader:
        return oldest_undelivered_seconds(reader, notifier.clock.micros)


def test_sent_and_failed_are_counted_by_channel(notifier, slack, counted):
    """Count each failed attempt, and each message once."""
    slack.status = 503
    notifier.notify(message(1), DATA, PAGER)
    notifier.run()
    slack.status = None
    notifier.notify(message(2, "resolved"), PAGER)
    notifier.run_for(60)

    assert counted("sent") == {(DATA, "opened"): 1, (PAGER, "opened"): 1, (PAGER, "resolved"): 1}
    assert counted("failed") == {(DATA, "http_503"): 1}
    assert counted("repeated") == {}


def test_oldest_waiting_message_has_the_age_of_what_it_supersedes(notifier, slack):
    """Keep the age of the first message."""
    assert _oldest(notifier) == 0
    slack.status = 503
    notifier.notify(message(1), DATA)
    notifier.run()
    notifier.clock.pass_(100)
    notifier.notify(message(2), DATA)
    notifier.run()
    notifier.clock.pass_(20)

    assert _oldest(notifier) == 120
    slack.status = None
    notifier.run_for(60)
    assert _oldest(notifier) == 0


def test_two_first_counts_at_once_are_two(catalog):
    """Add both: neither sees the other's row."""

    def second():
        with write_transaction(catalog) as connection:
            add_count(connection, "failed", DATA, "timeout")

    with ThreadPoolExecutor(1) as pool:
        with write_transaction(catalog) as connection:
            add_count(connection, "failed", DATA, "timeout")
            other = pool.submit(second)
            assert not wait([other], 0.5).done  # it waits for the row
        other.result(10)
    with catalog.connect() as connection:
        assert connection.scalars(select(notification_count.c.value)).all() == [2]
