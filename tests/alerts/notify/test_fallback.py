"""Fallback channel, which replaces one that accepts no message."""

import pytest

from alerts.notify.fallback import Fallback
from tests.alerts.notify.conftest import DATA, PAGER, RUNBOOK
from tests.alerts.notify.messages import message

PLATFORM = "slack:C0000009"


@pytest.fixture(autouse=True)
def fallback(notifier):
    """Set the platform's channel as the fallback channel."""
    notifier.set(fallback=PLATFORM)


def _titles(slack, channel: str) -> list[str]:
    return [each["text"].split(": ")[0] for each in slack.posts(channel)]


def test_expired_token_opens_an_alert_in_the_fallback_channel(notifier, slack, pagerduty, tmp_path):
    """Copy the incident, and alert on Slack."""
    (tmp_path / "platform.key").write_text("S" * 32)
    notifier.set(fallback="pagerduty:platform.key")
    slack.errors["chat.postMessage"] = "token_expired"
    notifier.notify(message(1), DATA)
    notifier.run()

    own, copy = sorted(pagerduty.events, key=lambda event: event["dedup_key"])
    assert copy["dedup_key"] == "inc-1"
    assert copy["payload"]["custom_details"]["note"] == (
        "Not delivered to slack:C0000001: token_expired."
    )
    assert own["payload"]["summary"] == (
        "Page: Delivery to slack: messages are rejected (token_expired)"
    )
    assert {"href": RUNBOOK, "text": "Runbook"} in own["links"]


def test_channel_has_one_alert_that_resolves(notifier, slack, pagerduty):
    """Open one for three rejected messages; resolve it with the first that is accepted."""
    pagerduty.status = 400
    for incident in ("inc-1", "inc-2", "inc-3"):
        notifier.notify(message(1, incident_id=incident), PAGER)
        notifier.run()
    about = [each for each in slack.posts("C0000009") if "Delivery to" in each["text"]]
    pagerduty.status = None
    notifier.notify(message(1, incident_id="inc-4"), PAGER)
    notifier.run()

    assert len(about) == 1
    assert about[0]["text"].startswith("Resolved: Delivery to pagerduty:orders.key")
    assert len(slack.posts("C0000009")) == 4


def test_expired_token_is_one_alert_for_all_its_channels(notifier, slack, pagerduty):
    """Open one for fifty channels; resolve it with a new token."""
    notifier.set(fallback=PAGER)
    slack.errors["chat.postMessage"] = "invalid_auth"
    notifier.notify(message(1), DATA, "slack:C0000002", PLATFORM)
    notifier.run()
    opened = [event["dedup_key"] for event in pagerduty.events]
    slack.errors.clear()
    notifier.notify(message(1, incident_id="inc-2"), DATA)
    notifier.run()

    assert sum(key.startswith("delivery-") for key in opened) == 1
    assert [state for (_, key), state in pagerduty.alerts.items() if key != "inc-1"] == ["resolved"]


def test_message_undelivered_for_ten_minutes_is_copied_once(notifier, slack, pagerduty, counted):
    """Copy it not a second before; go on trying for hours."""
    pagerduty.status = 500
    notifier.notify(message(1), PAGER)
    notifier.run_for(600)
    assert slack.posts("C0000009") == []
    notifier.run_for(7_200, step=60)

    assert _titles(slack, "C0000009") == ["Page"]
    assert counted("failed")[PAGER, "undelivered"] == 1
    pagerduty.status = None
    notifier.run_for(300)
    assert pagerduty.pages == [("R" * 32, "inc-1")]


def test_fallback_channel_gets_the_end_of_what_it_was_sent(notifier, slack, pagerduty):
    """Copy the resolve of a trigger that was copied."""
    notifier.resolve_after_rejection(pagerduty)

    assert "Resolved" in _titles(slack, "C0000009")
    assert pagerduty.actions() == []


def test_incident_that_keeps_changing_is_copied_after_ten_minutes(notifier, slack):
    """Count from the oldest message that it supersedes."""
    slack.errors["chat.postMessage"] = "internal_error"
    notifier.set(fallback=PAGER)
    for revision in range(1, 8):
        notifier.notify(message(revision, "changed" if revision > 1 else "opened"), DATA)
        notifier.run_for(120)

    assert (PAGER, 6, "sent", "") in notifier.rows()


def test_late_copy_of_an_old_state_replaces_no_newer_one(notifier, slack, pagerduty):
    """Drop revision 1, which waits ten minutes, after revision 2."""
    slack.errors["chat.postMessage"] = "is_archived"
    pagerduty.status = 500
    notifier.set(fallback="webhook:tickets")
    notifier.notify(message(1), PAGER)
    notifier.notify(message(2, "resolved"), DATA)
    notifier.run_for(700)

    sent = [row[1] for row in notifier.rows() if row[0] == "webhook:tickets"]
    assert sent == [1, 2]  # of the incident about the channel: 1; of inc-1: 2 alone


def test_copied_notice_pages_nobody(notifier, slack, pagerduty):
    """Leave out PagerDuty for a notice that Slack rejects."""
    notifier.set(fallback=PAGER)
    slack.errors["chat.postMessage"] = "is_archived"
    notifier.notify(message(1, "notice"), DATA)
    notifier.run()

    assert [event["dedup_key"].split("-")[0] for event in pagerduty.events] == ["delivery"]


def test_failing_fallback_channel_has_no_fallback(notifier, slack, counted):
    """Retry it, and count."""
    slack.status = 500
    notifier.notify(message(1), PLATFORM)
    notifier.run_for(1_200, step=60)

    assert notifier.rows() == [(PLATFORM, 1, "waiting", "http_500")]
    assert counted("failed")[PLATFORM, "undelivered"] == 1


def test_channel_that_is_not_configured_is_copied(notifier, slack):
    """Copy for a webhook that the service does not have."""
    notifier.set(webhook_url=None)
    notifier.notify(message(1), "webhook:tickets")
    notifier.run()

    assert notifier.rows()[-1] == ("webhook:tickets", 1, "failed", "not_configured")
    posts = slack.posts("C0000009")
    assert len(posts) == 2
    needed = "set LINEWARD_DELIVERY_WEBHOOK_URL and LINEWARD_DELIVERY_WEBHOOK_SECRET_FILE"
    assert all(needed in str(each) for each in posts)


def test_message_is_given_up_after_a_day(notifier, pagerduty, counted):
    """Fail it: the fallback channel had it long before."""
    pagerduty.status = 500
    notifier.notify(message(1), PAGER)
    notifier.run_for(90_000, step=600)

    assert (PAGER, 1, "failed", "http_500") in notifier.rows()
    assert counted("failed")[PAGER, "gave_up"] == 1


def test_resolve_follows_a_trigger_that_failed_in_doubt(notifier, pagerduty):
    """Close what a trigger behind a 500 may have opened."""
    pagerduty.status = 500
    notifier.notify(message(1), PAGER)
    notifier.run_for(90_000, step=600)
    pagerduty.status = None
    notifier.notify(message(2, "resolved"), PAGER)
    notifier.run()

    assert pagerduty.actions() == ["resolve"]


def test_without_its_mark_a_message_is_copied_in_each_pass(notifier, pagerduty, monkeypatch):
    """Run the mutant: record no copy."""
    monkeypatch.setattr("alerts.notify.fallback._mark_handed_over", lambda *_: None)
    copies = []
    monkeypatch.setattr(Fallback, "_would_page_for_notice", lambda *_: copies.append(1))
    pagerduty.status = 500
    notifier.notify(message(1), PAGER)
    notifier.run_for(700)

    assert len(copies) > 1


def test_message_given_up_early_is_copied(notifier, slack, pagerduty):
    """Copy it once where an operator gives up after a minute."""
    notifier.set(give_up_seconds=60)
    pagerduty.status = 500
    notifier.notify(message(1), PAGER)
    notifier.run_for(1_200)

    [copy] = slack.posts("C0000009")
    assert "Not delivered to pagerduty:orders.key: http_500." in str(copy["blocks"])
    assert (PAGER, 1, "failed", "http_500") in notifier.rows()
