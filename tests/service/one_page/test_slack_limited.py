"""Slack answers 429 for one channel: that one waits for as long as it asks, and no other does."""

import pytest

from alerts.notify import attempts
from alerts.notify.channels.name import parse_channel
from tests.service.one_page.shop import FINANCE, KEY, SALES

_RETRY_AFTER = 90


@pytest.fixture
def limited(shop, slack):
    """The channel of sales takes nothing; then its job fails."""
    slack.limited[SALES] = _RETRY_AFTER
    shop.open()
    return shop


def _asked(slack):
    """Posts that the channel of sales was asked for."""
    posts = [each.fields() for each in slack.requests if each.path == "/api/chat.postMessage"]
    return sum(each["channel"] == SALES for each in posts)


def _told(slack, channel):
    """First words and incidents of what stands in a channel."""
    return [
        (each["text"].split(":")[0], each["metadata"]["event_payload"]["incident_id"])
        for each in slack.posts(channel)
    ]


def another_fault(shop):
    """Of the same owner, while its channel is to be left alone."""
    shop.open("clicks")


def test_all_others_are_told_at_once(limited, slack, pagerduty):
    """In the turn in which it opens: the owner's phone, and the owner downstream."""
    number = limited.one.incident_id

    assert _told(slack, SALES) == []
    assert _told(slack, FINANCE) == [("Notice", number)]
    assert pagerduty.pages == [(KEY, number)]


def test_that_one_is_told_after_its_time_in_its_newest_state_once(limited, slack, pagerduty):
    """Acknowledged meanwhile; not asked before, and not searched: a 429 leaves no doubt."""
    number = limited.one.incident_id
    slack.limited.clear()
    limited.ask("acknowledge")
    limited.go(_RETRY_AFTER - 20)
    assert (_asked(slack), _told(slack, SALES)) == (1, [])
    limited.go(20)
    assert _told(slack, SALES) == [("Acknowledged", number)]
    assert (_asked(slack), slack.calls("conversations.history")) == (2, 0)

    limited.heal()
    limited.go(60)
    assert _told(slack, SALES) == [("Resolved", number)]
    assert len(slack.replies(SALES)) == 1
    assert pagerduty.actions() == ["trigger", "acknowledge", "resolve"]
    assert limited.pending() == []


def test_what_changes_while_it_waits_comes_in_order(shop, slack):
    """Told before the 429: edited after it, to the last state, and the thread is told once."""
    shop.open()
    slack.limited[SALES] = _RETRY_AFTER
    shop.ask("acknowledge")
    shop.go(10)
    shop.heal()
    slack.limited.clear()
    shop.go(_RETRY_AFTER + 60)

    assert _told(slack, SALES) == [("Resolved", shop.one.incident_id)]
    revisions = [
        each["metadata"]["event_payload"]["revision"] for each in slack.messages[SALES][1:]
    ]
    assert revisions == [3]


def test_another_incident_waits_with_it_and_each_is_told_once(limited, slack, pagerduty):
    """The channel is held, not the message: nothing new is tried there. Its owner is rung."""
    another_fault(limited)
    assert _asked(slack) == 1
    assert len(pagerduty.pages) == 2
    slack.limited.clear()
    limited.go(_RETRY_AFTER)

    numbers = {each.incident_id for each in limited.rows()}
    assert len(numbers) == 2
    assert sorted(_told(slack, SALES)) == sorted(("Page", each) for each in numbers)
    assert limited.pending() == []


def test_without_the_hold_of_the_channel_what_is_new_is_tried_there(limited, slack, monkeypatch):
    """Mutant: each message waits by itself."""
    monkeypatch.setattr(attempts, "_hold_channel", lambda *_, **__: None)
    limited.go(_RETRY_AFTER)  # the hold of before
    asked = _asked(slack)
    another_fault(limited)

    assert _asked(slack) == asked + 1


def test_without_retry_after_it_is_asked_too_soon(limited, slack, monkeypatch):
    """Mutant: the header is not read."""
    monkeypatch.setattr("alerts.notify.channels.slack.responses.parse_retry_after", lambda _: 0.0)
    limited.go(_RETRY_AFTER)
    asked = _asked(slack)
    limited.go(_RETRY_AFTER - 20)

    assert _asked(slack) > asked


def test_held_by_its_kind_the_others_wait_too(shop, slack, monkeypatch):
    """Mutant: what one channel of Slack asks for holds all of Slack."""
    hold = attempts._hold_channel  # noqa: SLF001

    def hold_all(connection, channel, **until):  # noqa: ANN003 - as it is
        every = (SALES, FINANCE) if parse_channel(channel).kind == "slack" else ()
        for each in {channel, *(f"slack:{one}" for one in every)}:
            hold(connection, each, **until)

    monkeypatch.setattr(attempts, "_hold_channel", hold_all)
    slack.limited[SALES] = _RETRY_AFTER
    shop.open("clicks")
    shop.open()

    assert _told(slack, FINANCE) == []
