"""Product's sender, with the receivers of a game day."""

from datetime import UTC, datetime

from alerts.notify.channels.channel import ChannelTask, Sent
from alerts.notify.message import MessageRoot
from lab.gameday.driver.fake_transports import transports
from lab.gameday.fake_receivers import Receivers
from lab.gameday.truth_shapes import NamePattern
from tests.alerts.notify.messages import message

MESSAGE = message(severity="ticket", root=MessageRoot("job", "load", "shop"))


def test_each_outlet_passes_messages_on():
    """Receive by channel, at the simulated instant."""
    receivers = Receivers()
    outlets = transports(receivers, lambda: datetime(2026, 3, 20, tzinfo=UTC))
    targets = {"slack": "#shop", "pagerduty": "keys/shop", "webhook": "tickets"}
    for kind, target in targets.items():
        assert isinstance(outlets[kind].send(ChannelTask(MESSAGE, target)), Sent)

    assert [(each.by, each.to, each.what) for each in receivers.messages] == [
        ("slack", "#shop", "ticket"),
        ("pagerduty", "keys/shop", "page"),
        ("webhook", "tickets", "ticket"),
    ]
    assert {each.root for each in receivers.messages} == {NamePattern("shop", "load")}
    assert {each.at for each in receivers.messages} == {1_773_964_800_000_000}


def test_slack_edits_its_post():
    """Edit with the handle of the post, without a second post."""
    receivers = Receivers()
    slack = transports(receivers, lambda: datetime(2026, 3, 20, tzinfo=UTC))["slack"]
    sent = slack.send(ChannelTask(MESSAGE, "#shop"))
    slack.send(ChannelTask(MESSAGE, "#shop", handle=sent.handle))

    assert [each.what for each in receivers.messages] == ["ticket", "other"]
