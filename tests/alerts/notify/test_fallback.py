"""Another way to people, when the first one does not take a message."""

import pytest

from alerts.notify.fallback import Fallback
from tests.alerts.notify.conftest import DATA, PAGER
from tests.alerts.notify.messages import message

PLATFORM = "slack:C0000009"


@pytest.fixture(autouse=True)
def fallback(notifier):
    """The platform's channel stands in for the others."""
    notifier.set(fallback=PLATFORM)


def _titles(slack, channel: str) -> list[str]:
    return [each["text"].split(": ")[0] for each in slack.posts(channel)]


def test_an_expired_token_goes_to_the_fallback_channel_with_an_alert_of_its_own(
    notifier, slack, pagerduty, tmp_path
):
    """Slack refuses: PagerDuty of the platform is told of the incident, and of Slack."""
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
        "Page: delivery slack: Delivery to slack: messages are rejected (token_expired)"
    )


def test_the_alert_about_a_channel_is_one_and_ends_with_it(notifier, slack, pagerduty):
    """Three messages refused are one alert; the first that is taken resolves it."""
    pagerduty.status = 400
    for incident in ("inc-1", "inc-2", "inc-3"):
        notifier.notify(message(1, incident_id=incident), PAGER)
        notifier.run()
    about = [each for each in slack.posts("C0000009") if "Delivery to" in each["text"]]
    pagerduty.status = None
    notifier.notify(message(1, incident_id="inc-4"), PAGER)
    notifier.run()

    assert len(about) == 1
    assert about[0]["text"].startswith("Resolved: delivery pagerduty:orders.key")
    assert len(slack.posts("C0000009")) == 4


def test_a_token_that_expired_is_one_alert_for_all_its_channels(notifier, slack, pagerduty):
    """Fifty channels share it: one fault, one page. A new token ends it."""
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


def test_what_is_not_delivered_for_ten_minutes_goes_to_the_fallback_channel_once(
    notifier, slack, pagerduty, counted
):
    """Not a second before; and the first way goes on being tried, for hours."""
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


def test_a_fallback_channel_that_was_told_of_it_hears_how_it_ends(notifier, slack, pagerduty):
    """The trigger fell back; so must what resolves it, whoever is sent it first."""
    notifier.resolve_after_rejection(pagerduty)

    assert "Resolved" in _titles(slack, "C0000009")
    assert pagerduty.actions() == []


def test_an_incident_that_keeps_changing_falls_back_after_ten_minutes_too(notifier, slack):
    """Each change supersedes the one before: its age is that of the oldest it stands for."""
    slack.errors["chat.postMessage"] = "internal_error"
    notifier.set(fallback=PAGER)
    for revision in range(1, 8):
        notifier.notify(message(revision, "changed" if revision > 1 else "opened"), DATA)
        notifier.run_for(120)

    assert (PAGER, 6, "sent", "") in notifier.rows()


def test_an_old_state_that_falls_back_late_is_not_shown_over_a_newer_one(
    notifier, slack, pagerduty
):
    """Slack refused revision 2 at once; revision 1 waits ten minutes for PagerDuty."""
    slack.errors["chat.postMessage"] = "is_archived"
    pagerduty.status = 500
    notifier.set(fallback="webhook:tickets")
    notifier.notify(message(1), PAGER)
    notifier.notify(message(2, "resolved"), DATA)
    notifier.run_for(700)

    told = [row[1] for row in notifier.rows() if row[0] == "webhook:tickets"]
    assert told == [1, 2]  # of the incident about the channel: 1; of inc-1: 2 alone


def test_nobody_is_rung_for_a_notice_that_fell_back(notifier, slack, pagerduty):
    """A notice is nothing to wake anybody for, though Slack refuses it."""
    notifier.set(fallback=PAGER)
    slack.errors["chat.postMessage"] = "is_archived"
    notifier.notify(message(1, "notice"), DATA)
    notifier.run()

    assert [event["dedup_key"].split("-")[0] for event in pagerduty.events] == ["delivery"]


def test_a_fallback_channel_that_fails_itself_does_not_go_round(notifier, slack, counted):
    """There is no way after the last: metrics tell, and it is tried again."""
    slack.status = 500
    notifier.notify(message(1), PLATFORM)
    notifier.run_for(1_200, step=60)

    assert notifier.rows() == [(PLATFORM, 1, "waiting", "http_500")]
    assert counted("failed")[PLATFORM, "undelivered"] == 1


def test_a_kind_of_channel_that_is_not_set_falls_back(notifier, slack):
    """The policy names a webhook, and the service has none."""
    notifier.set(webhook_url=None)
    notifier.notify(message(1), "webhook:tickets")
    notifier.run()

    assert notifier.rows()[-1] == ("webhook:tickets", 1, "failed", "not_configured")
    assert len(slack.posts("C0000009")) == 2


def test_after_a_day_a_message_is_parked(notifier, pagerduty, counted):
    """Somebody has been told long since; a ring a day late helps nobody."""
    pagerduty.status = 500
    notifier.notify(message(1), PAGER)
    notifier.run_for(90_000, step=600)

    assert (PAGER, 1, "failed", "http_500") in notifier.rows()
    assert counted("failed")[PAGER, "gave_up"] == 1


def test_a_resolve_is_sent_though_its_trigger_was_parked_in_doubt(notifier, pagerduty):
    """The 500s may hide a trigger that arrived: what may be open is closed."""
    pagerduty.status = 500
    notifier.notify(message(1), PAGER)
    notifier.run_for(90_000, step=600)
    pagerduty.status = None
    notifier.notify(message(2, "resolved"), PAGER)
    notifier.run()

    assert pagerduty.actions() == ["resolve"]


def test_without_the_note_it_falls_back_again_and_again(notifier, pagerduty, monkeypatch):
    """Mutant: nobody writes down that it fell back, and each pass counts it anew."""
    monkeypatch.setattr("alerts.notify.fallback._mark_handed_over", lambda *_: None)
    told = []
    monkeypatch.setattr(Fallback, "_would_page_for_notice", lambda *_: told.append(1))
    pagerduty.status = 500
    notifier.notify(message(1), PAGER)
    notifier.run_for(700)

    assert len(told) > 1


def test_what_is_given_up_before_it_is_overdue_goes_to_the_fallback_channel_too(
    notifier, slack, pagerduty
):
    """Where an operator gives up after a minute, a page is not lost in silence; told once."""
    notifier.set(give_up_seconds=60)
    pagerduty.status = 500
    notifier.notify(message(1), PAGER)
    notifier.run_for(1_200)

    [copy] = slack.posts("C0000009")
    assert "Not delivered to pagerduty:orders.key: http_500." in str(copy["blocks"])
    assert (PAGER, 1, "failed", "http_500") in notifier.rows()
