"""Rows of the outbox."""

from alerts.notify import outbox
from alerts.notify.channels.name import ChannelName
from lineage.catalog.engine import write_transaction
from tests.alerts.notify.messages import message


def test_two_that_enqueue_the_same_at_once_enqueue_it_once(catalog, monkeypatch):
    """Find the row of the other when it is written."""
    monkeypatch.setattr(outbox, "_is_enqueued", lambda *_: False)

    def notify():
        with write_transaction(catalog) as connection:
            return outbox.enqueue(connection, message(), ChannelName("slack", "C0000001"))

    assert (notify(), notify()) == (True, False)
