"""What is written to be sent."""

from alerts.notify import outbox
from alerts.notify.channels.name import ChannelName
from lineage.catalog.engine import writing
from tests.alerts.notify.messages import message


def test_two_that_tell_the_same_at_one_moment_tell_it_once(catalog, monkeypatch):
    """Neither sees what the other has not committed; the second finds it there when it writes."""
    monkeypatch.setattr(outbox, "_is_enqueued", lambda *_: False)

    def notify():
        with writing(catalog) as connection:
            return outbox.enqueue(connection, message(), ChannelName("slack", "C0000001"))

    assert (notify(), notify()) == (True, False)
