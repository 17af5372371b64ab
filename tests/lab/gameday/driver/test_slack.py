"""Product's Slack transport with a live game day's fake Slack, over HTTP."""

import pytest

from alerts.notify.channels.channel import ChannelTask, Sent
from alerts.notify.channels.slack.channel import Slack
from alerts.notify.message import MessageRoot
from lab.gameday.driver.slack import listening
from lab.gameday.fake_receivers import Receivers
from lab.gameday.truth_shapes import NamePattern
from service.errors import OccupiedError
from tests.alerts.notify.messages import message
from tests.suite.http_client import CLIENT

OPENED = message(severity="page", kind="opened", root=MessageRoot("job", "load", "shop"))


@pytest.fixture
def receivers():
    """Return the receivers of a game day without PagerDuty."""
    return Receivers(slack_pages=True)


@pytest.fixture
def url(receivers):
    """Return the URL of its Slack."""
    with listening(receivers, "127.0.0.1", 0) as url:
        yield url


@pytest.fixture
def slack(url, tmp_path):
    """Post as the service does; any token is accepted."""
    (tmp_path / "token").write_text("any")
    return Slack(url=url, token_file=tmp_path / "token", timeout_seconds=5)


def test_a_post_pages_and_its_edit_ends_it(slack, receivers):
    """Edit with the handle from the answer to the post."""
    sent = slack.send(ChannelTask(OPENED, "#shop"))
    assert isinstance(sent, Sent)
    over = message(severity="page", kind="resolved", revision=9, root=OPENED.root)
    assert isinstance(slack.send(ChannelTask(over, "#shop", handle=sent.handle)), Sent)

    assert [(each.what, each.to) for each in receivers.messages] == [
        ("page", "#shop"),
        ("resolved", "#shop"),
    ]
    assert receivers.messages[0].root == NamePattern("shop", "load")


@pytest.mark.parametrize(
    ("path", "body", "error"),
    [
        ("conversations.history", "{}", "missing_scope"),
        ("chat.postMessage", "{}", "invalid_arguments"),
        ("chat.postMessage", "[", "invalid_arguments"),
    ],
)
def test_an_invalid_message_is_rejected(url, receivers, path, body, error):
    """Answer as Slack does: 200 with a code."""
    headers = {"Content-Type": "application/json"}
    answer = CLIENT.post(f"{url}{path}", content=body, headers=headers).json()

    assert answer == {"ok": False, "error": error}
    assert receivers.messages == []


def test_a_port_in_use_is_named(url, receivers):
    """Name the option that gave it."""
    port = int(url.split(":")[2].split("/")[0])
    with (
        pytest.raises(OccupiedError, match=f"--listen 127.0.0.1:{port}"),
        listening(receivers, "127.0.0.1", port),
    ):
        pass
