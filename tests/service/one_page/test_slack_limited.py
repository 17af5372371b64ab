"""Slack answers 429 for one channel: that one waits for as long as it asks, and no other does."""

import pytest

from alerts.notify import attempts
from alerts.notify.channels.name import parse_channel
from tests.service.one_page.shop import FINANCE, KEY, SALES

_RETRY_AFTER = 90


@pytest.fixture
def limited(shop, slack):
    """Limit the channel of sales, and then fail its job."""
    slack.limited[SALES] = _RETRY_AFTER
    shop.open()
    return shop


def _post_count(slack):
    """Return the number of posts for the channel of sales."""
    posts = [each.fields() for each in slack.requests if each.path == "/api/chat.postMessage"]
    return sum(each["channel"] == SALES for each in posts)


def _messages(slack, channel):
    """Return first words and incidents of the messages in a channel."""
    return [
        (each["text"].split(":")[0], each["metadata"]["event_payload"]["incident_id"])
        for each in slack.posts(channel)
    ]


def another_fault(shop):
    """Open another fault of the same owner while its channel is held."""
    shop.open("clicks")


def test_all_other_channels_are_notified_at_once(limited, slack, pagerduty):
    """Page the owner and notify the downstream owner in the turn in which the incident opens."""
    number = limited.one.incident_id

    assert _messages(slack, SALES) == []
    assert _messages(slack, FINANCE) == [("Notice", number)]
    assert pagerduty.pages == [(KEY, number)]


def test_a_limited_channel_gets_the_newest_state_once(limited, slack, pagerduty):
    """Post once after the wait, without a search, as a 429 leaves no doubt."""
    number = limited.one.incident_id
    slack.limited.clear()
    limited.ask("acknowledge")
    limited.go(_RETRY_AFTER - 20)
    assert (_post_count(slack), _messages(slack, SALES)) == (1, [])
    limited.go(20)
    assert _messages(slack, SALES) == [("Acknowledged", number)]
    assert (_post_count(slack), slack.calls("conversations.history")) == (2, 0)

    limited.heal()
    limited.go(60)
    assert _messages(slack, SALES) == [("Resolved", number)]
    assert len(slack.replies(SALES)) == 1
    assert pagerduty.actions() == ["trigger", "acknowledge", "resolve"]
    assert limited.pending() == []


def test_changes_during_the_wait_are_sent_in_order(shop, slack):
    """Edit the earlier message to the last state, and reply to its thread once."""
    shop.open()
    slack.limited[SALES] = _RETRY_AFTER
    shop.ask("acknowledge")
    shop.go(10)
    shop.heal()
    slack.limited.clear()
    shop.go(_RETRY_AFTER + 60)

    assert _messages(slack, SALES) == [("Resolved", shop.one.incident_id)]
    revisions = [
        each["metadata"]["event_payload"]["revision"] for each in slack.messages[SALES][1:]
    ]
    assert revisions == [3]


def test_another_incident_waits_too_and_each_is_sent_once(limited, slack, pagerduty):
    """Hold the channel and not the message, and page the owner."""
    another_fault(limited)
    assert _post_count(slack) == 1
    assert len(pagerduty.pages) == 2
    slack.limited.clear()
    limited.go(_RETRY_AFTER)

    numbers = {each.incident_id for each in limited.rows()}
    assert len(numbers) == 2
    assert sorted(_messages(slack, SALES)) == sorted(("Page", each) for each in numbers)
    assert limited.pending() == []


def test_without_the_hold_a_new_message_is_tried(limited, slack, monkeypatch):
    """Run the mutant: hold each message by itself."""
    monkeypatch.setattr(attempts, "_hold_channel", lambda *_, **__: None)
    limited.go(_RETRY_AFTER)  # the hold of before
    asked = _post_count(slack)
    another_fault(limited)

    assert _post_count(slack) == asked + 1


def test_without_retry_after_it_retries_too_soon(limited, slack, monkeypatch):
    """Run the mutant: ignore the header."""
    monkeypatch.setattr("alerts.notify.channels.slack.responses.parse_retry_after", lambda _: 0.0)
    limited.go(_RETRY_AFTER)
    asked = _post_count(slack)
    limited.go(_RETRY_AFTER - 20)

    assert _post_count(slack) > asked


def test_a_hold_by_type_delays_all_channels(shop, slack, monkeypatch):
    """Run the mutant: hold all of Slack for one channel."""
    hold = attempts._hold_channel  # noqa: SLF001

    def hold_all(connection, channel, **until):  # noqa: ANN003 - as it is
        every = (SALES, FINANCE) if parse_channel(channel).kind == "slack" else ()
        for each in {channel, *(f"slack:{one}" for one in every)}:
            hold(connection, each, **until)

    monkeypatch.setattr(attempts, "_hold_channel", hold_all)
    slack.limited[SALES] = _RETRY_AFTER
    shop.open("clicks")
    shop.open()

    assert _messages(slack, FINANCE) == []
