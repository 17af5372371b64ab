"""Of all that comes to a live game day's Slack, what is of the game day."""

import httpx
import msgspec
import pytest

from runbooks.gameday.received import Heard, Receivers
from runbooks.gameday.truth import Name
from service.errors import RejectedInputError
from service.gameday.asked import Asked
from service.gameday.hearing import Hearing

HEARD = Heard(7, "page", "slack", "#x", "i", Name("gameday-search", "load"), "gameday-search")
LINK = "https://elsewhere.example/incidents/i"


class Lists:
    """In place of a service: notes what was asked for."""

    def __init__(self) -> None:
        self.followed: list[str] = []

    def affected_datasets(self, link: str) -> frozenset[Name]:
        """As `service.gameday.asked.Asked`."""
        self.followed.append(link)
        return frozenset({Name("s3://lineward-gameday", str(len(self.followed)))})


def but(**changed: object) -> Heard:
    return msgspec.structs.replace(HEARD, **changed)


def test_what_is_of_others_is_counted_and_not_judged():
    """The service tells its other people here too; what it tells of itself is judged."""
    receivers = Receivers()
    listener = Hearing(receivers, Lists())
    roots = (("hive://real", "x"), ("", "pipeline"), ("lineward", "freshness critical"))
    receivers.heard += [but(root=Name(*root)) for root in roots]
    listener.listen()
    listener.listen()

    assert [each.root.namespace for each in listener.heard] == ["", "lineward"]
    assert listener.others == 1


def test_a_link_is_followed_when_it_is_heard_and_once():
    """What a list was is not what it becomes; an edit that rings nobody is not followed."""
    receivers, lists = Receivers(), Lists()
    listener = Hearing(receivers, lists)
    for answer in (but(full_list=LINK), but(at=9, what="other", full_list=LINK)):
        receivers.heard.append(answer)
        listener.listen()

    assert lists.followed == [LINK]
    assert listener.resolve(LINK, 7) == {Name("s3://lineward-gameday", "1")}
    assert listener.resolve(LINK, 9) == frozenset()


@pytest.mark.parametrize(("status", "body"), [(404, "{}"), (200, "[]")])
def test_a_link_that_leads_nowhere_ends_the_day(monkeypatch, status, body):
    """An empty list would be scored as nobody hurt; it is asked of the address that was given."""
    asked = []

    def get(_self, url, **_: object):
        asked.append(url)
        return httpx.Response(status, text=body)

    monkeypatch.setattr(httpx.Client, "get", get)
    with pytest.raises(RejectedInputError, match="--service http://there:1/api/v1/incidents/i: "):
        Asked("http://there:1").affected_datasets(LINK)
    assert asked == ["http://there:1/api/v1/incidents/i"]
