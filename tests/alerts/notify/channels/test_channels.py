"""Messages of an incident in each channel."""

from tests.alerts.notify.conftest import DATA, PAGER, TICKETS
from tests.alerts.notify.messages import message

LIFE = ("opened", "changed", "acknowledged", "resolved")


def test_slack_edits_one_message_and_replies(notifier, slack):
    """Show the newest state once; the thread has a reply for each change."""
    for revision, kind in enumerate(LIFE, start=1):
        note = "by ann" if kind == "acknowledged" else ""
        notifier.notify(message(revision, kind, note=note), DATA)
        notifier.run()
        notifier.clock.pass_(60)

    [shown] = slack.posts("C0000001")
    assert shown["text"].startswith("Resolved: orders_daily failed")
    assert slack.replies("C0000001") == [
        "Changed: orders_daily failed: 2 critical datasets will be late",
        "Acknowledged: by ann",
        "Resolved: after 8 min. orders_daily failed: 2 critical datasets will be late",
    ]
    assert slack.calls("conversations.history") == 0


def test_pagerduty_has_one_alert_that_resolves(notifier, pagerduty):
    """Page once by one dedup_key; leave a change out."""
    for revision, kind in enumerate(LIFE, start=1):
        notifier.notify(message(revision, kind), PAGER)
        notifier.run()

    assert pagerduty.actions() == ["trigger", "acknowledge", "resolve"]
    assert pagerduty.pages == [("R" * 32, "inc-1")]
    assert pagerduty.alerts == {("R" * 32, "inc-1"): "resolved"}


def test_webhook_receives_every_change_signed(notifier, receiver):
    """Send all: a ticket system keeps its own history."""
    for revision, kind in enumerate(LIFE, start=1):
        notifier.notify(message(revision, kind), TICKETS)
    notifier.run()

    assert [(each["revision"], each["kind"]) for each in receiver.tickets] == [
        (revision, kind) for revision, kind in enumerate(LIFE, start=1)
    ]


def test_next_owner_is_paged_and_alert_of_first_resolved(notifier, pagerduty, tmp_path):
    """Resolve the alert in the first service with the reason."""
    (tmp_path / "platform.key").write_text("S" * 32)
    notifier.notify(message(1), PAGER)
    notifier.run()
    notifier.notify(message(2, "handed_over", note="handed over to platform"), PAGER)
    notifier.notify(message(2, "opened", owner="platform"), "pagerduty:platform.key")
    notifier.run()

    assert pagerduty.alerts == {("R" * 32, "inc-1"): "resolved", ("S" * 32, "inc-1"): "triggered"}
    [resolved] = [each for each in pagerduty.events if each["event_action"] == "resolve"]
    assert resolved["payload"]["custom_details"]["note"] == "handed over to platform"


def test_message_enqueued_twice_is_sent_once(notifier, slack):
    """Know it by incident, revision and channel."""
    for _ in range(2):
        notifier.notify(message(1), DATA)
        notifier.run()

    assert len(slack.posts("C0000001")) == 1


def test_message_deleted_in_slack_is_posted_again(notifier, slack):
    """Post the next change if a person deleted the message."""
    notifier.notify(message(1), DATA)
    notifier.run()
    slack.messages["C0000001"].clear()
    notifier.notify(message(2, "resolved"), DATA)
    notifier.run()

    assert [each["text"].split(":")[0] for each in slack.posts("C0000001")] == ["Resolved"]
