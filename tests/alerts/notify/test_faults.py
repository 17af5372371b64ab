"""Faults of a provider: retries, their times, and other channels that do not wait."""

import pytest

from tests.alerts.notify.conftest import DATA, PAGER, TICKETS
from tests.alerts.notify.messages import message

PAYMENTS = "slack:C0000002"


def test_429_holds_one_slack_channel_as_long_as_it_asks(notifier, slack):
    """Wait for Retry-After there, and send in the other channel."""
    slack.limited["C0000001"] = 30
    notifier.notify(message(1), DATA, PAYMENTS)
    notifier.run()
    slack.limited.clear()
    asked = slack.calls("chat.postMessage")
    notifier.notify(message(1, incident_id="inc-2"), DATA, PAYMENTS)
    notifier.run_for(29, step=1)

    assert asked == 2
    assert (len(slack.posts("C0000001")), len(slack.posts("C0000002"))) == (0, 2)
    notifier.clock.pass_(1)
    notifier.run()
    assert len(slack.posts("C0000001")) == 2
    assert slack.calls("conversations.history") == 0  # a 429 leaves no doubt


def test_without_retry_after_it_retries_too_soon(notifier, slack, monkeypatch):
    """Run the mutant: ignore the header."""
    monkeypatch.setattr("alerts.notify.channels.slack.responses.parse_retry_after", lambda _: 0.0)
    slack.limited["C0000001"] = 30
    notifier.notify(message(1), DATA)
    notifier.run_for(29, step=1)

    assert slack.calls("chat.postMessage") > 1


def test_wait_survives_a_restart(notifier, slack):
    """Run each pass by a new sender."""
    slack.status = 503
    notifier.notify(message(1), DATA)
    notifier.run_for(600, step=1)

    # Waits double from 5 s to 300 s, each half as long at the least.
    assert 7 <= len(slack.requests) <= 12


def test_pagerduty_pages_once_after_an_hour_of_500(notifier, pagerduty, counted):
    """Lose nothing, page once, and retry rarely."""
    pagerduty.status = 500
    notifier.notify(message(1), PAGER)
    notifier.run_for(3_600)
    asked = len(pagerduty.requests)
    pagerduty.status = None
    notifier.run_for(300)

    assert 12 <= asked <= 30
    assert pagerduty.pages == [("R" * 32, "inc-1")]
    assert counted("sent") == {(PAGER, "opened"): 1}
    assert counted("failed")[PAGER, "http_500"] == asked


def test_provider_that_hangs_delays_no_other(notifier, slack, pagerduty):
    """Page by PagerDuty before the timeout of Slack."""
    slack.stalled.clear()
    notifier.set(timeout_seconds=1)
    notifier.notify(message(1), DATA, PAGER)
    notifier.run()
    slack.stalled.set()

    assert pagerduty.actions() == ["trigger"]
    assert (DATA, 1, "waiting", "timeout") in notifier.rows()


def test_provider_that_hangs_delays_no_later_message_of_another(notifier, slack, pagerduty):
    """Send for PagerDuty at once while Slack hangs in every channel."""
    slack.stalled.clear()
    for number in range(20):
        notifier.notify(message(1), f"slack:#hangs-{number}")
    sender = notifier.sender()
    hanging = sender.begin()
    notifier.notify(message(1), PAGER)
    [pager] = sender.begin()

    assert pager.result(timeout=30) == 1
    assert pagerduty.actions() == ["trigger"]
    assert not all(each.done() for each in hanging)
    slack.stalled.set()
    sender.close()


@pytest.mark.parametrize("channel", [DATA, PAGER, TICKETS])
def test_timeout_leaves_a_doubt(notifier, fakes, outcome, channel):
    """Keep the doubt: only the response is missing."""
    for fake in fakes:
        fake.stalled.clear()
    notifier.set(timeout_seconds=1)

    found = outcome(channel)

    assert (found.reason, found.is_in_doubt) == ("timeout", True)


@pytest.mark.parametrize("channel", [DATA, PAGER, TICKETS])
def test_failed_connection_leaves_no_doubt(fakes, outcome, channel):
    """Send nothing to a closed port."""
    for fake in fakes:
        fake.stop()

    found = outcome(channel)

    assert (found.reason, found.is_in_doubt) == ("unreachable", False)


@pytest.mark.parametrize("channel", [DATA, PAGER, TICKETS])
def test_lost_response_makes_no_second_message(notifier, fakes, channel):
    """Break the connection after the message was accepted."""
    slack, pagerduty, receiver = fakes
    slack.lost_answers = pagerduty.lost_answers = receiver.lost_answers = 1
    notifier.notify(message(1), channel)
    notifier.run_for(60)

    assert len(slack.posts("C0000001")) == (channel == DATA)
    assert len(pagerduty.pages) == (channel == PAGER)
    assert len(receiver.tickets) == (channel == TICKETS)
    assert receiver.repeats == (["inc-1.1"] if channel == TICKETS else [])
