"""Messages of a live game day, among all that come to its Slack."""

import httpx
import msgspec
import pytest

from lab.gameday.driver.message_listener import MessageListener
from lab.gameday.driver.service_client import ServiceClient
from lab.gameday.fake_receivers import ReceivedMessage, Receivers
from lab.gameday.truth_shapes import NamePattern
from service.errors import RejectedInputError

MESSAGE = ReceivedMessage(
    7, "page", "slack", "#x", "i", NamePattern("gameday-search", "load"), "gameday-search"
)
LINK = "https://elsewhere.example/incidents/i"


class Lists:
    """Stand-in for a service that records each query."""

    def __init__(self) -> None:
        self.followed: list[str] = []

    def affected_by(self, link: str) -> frozenset[NamePattern]:
        """Answer as `lab.gameday.driver.service_client.ServiceClient`."""
        self.followed.append(link)
        return frozenset({NamePattern("s3://lineward-gameday", str(len(self.followed)))})


def but(**changed: object) -> ReceivedMessage:
    return msgspec.structs.replace(MESSAGE, **changed)


def test_messages_of_others_are_counted_and_not_judged():
    """Skip messages to other people of the service; judge those about itself."""
    receivers = Receivers()
    listener = MessageListener(receivers, Lists())
    roots = (("hive://real", "x"), ("", "pipeline"), ("lineward", "freshness critical"))
    receivers.messages += [but(root=NamePattern(*root)) for root in roots]
    listener.listen()
    listener.listen()

    assert [each.root.namespace for each in listener.messages] == ["", "lineward"]
    assert listener.others == 1


def test_a_link_is_followed_when_it_arrives_and_once():
    """Keep a list as it was; do not follow an edit that pages nobody."""
    receivers, lists = Receivers(), Lists()
    listener = MessageListener(receivers, lists)
    for message in (but(full_list=LINK), but(at=9, what="other", full_list=LINK)):
        receivers.messages.append(message)
        listener.listen()

    assert lists.followed == [LINK]
    assert listener.resolve(LINK, 7) == {NamePattern("s3://lineward-gameday", "1")}
    assert listener.resolve(LINK, 9) == frozenset()


@pytest.mark.parametrize(("status", "body"), [(404, "{}"), (200, "[]")])
def test_a_link_that_leads_nowhere_ends_the_day(monkeypatch, status, body):
    """Query the list at the given address: an empty list would be scored as no impact."""
    asked = []

    def get(_self, url, **_: object):
        asked.append(url)
        return httpx.Response(status, text=body)

    monkeypatch.setattr(httpx.Client, "get", get)
    with pytest.raises(RejectedInputError, match="--service http://there:1/api/v1/incidents/i: "):
        ServiceClient("http://there:1").affected_by(LINK)
    assert asked == ["http://there:1/api/v1/incidents/i"]
