"""What each channel is told of an incident's life."""

from tests.alerts.notify.conftest import DATA, PAGER, TICKETS
from tests.alerts.notify.messages import message

LIFE = ("opened", "changed", "acknowledged", "resolved")


def test_slack_has_one_message_that_is_edited_and_a_thread(notifier, slack):
    """The channel shows the last state once; the thread tells how it came to it."""
    for revision, kind in enumerate(LIFE, start=1):
        note = "by ann" if kind == "acknowledged" else ""
        notifier.notify(message(revision, kind, note=note), DATA)
        notifier.run()
        notifier.clock.pass_(60)

    [shown] = slack.posts("C0000001")
    assert shown["text"].startswith("Resolved: job orders_daily: orders_daily failed")
    assert slack.replies("C0000001") == [
        "Changed: orders_daily failed: 2 critical datasets will be late",
        "Acknowledged: by ann",
        "Resolved: after 8 min. orders_daily failed: 2 critical datasets will be late",
    ]
    assert slack.calls("conversations.history") == 0


def test_pagerduty_has_one_alert_that_ends(notifier, pagerduty):
    """One dedup_key from trigger to resolve pages once, and a change is left out."""
    for revision, kind in enumerate(LIFE, start=1):
        notifier.notify(message(revision, kind), PAGER)
        notifier.run()

    assert pagerduty.actions() == ["trigger", "acknowledge", "resolve"]
    assert pagerduty.pages == [("R" * 32, "inc-1")]
    assert pagerduty.alerts == {("R" * 32, "inc-1"): "resolved"}


def test_a_webhook_is_sent_every_change_signed(notifier, receiver):
    """A ticket system keeps its own history: nothing is left out."""
    for revision, kind in enumerate(LIFE, start=1):
        notifier.notify(message(revision, kind), TICKETS)
    notifier.run()

    assert [(each["revision"], each["kind"]) for each in receiver.tickets] == [
        (revision, kind) for revision, kind in enumerate(LIFE, start=1)
    ]


def test_the_next_owner_is_rung_and_the_first_one_no_more(notifier, pagerduty, tmp_path):
    """Same incident, two services: the alert of the first is resolved with a word on why."""
    (tmp_path / "platform.key").write_text("S" * 32)
    notifier.notify(message(1), PAGER)
    notifier.run()
    notifier.notify(message(2, "handed_over", note="handed over to platform"), PAGER)
    notifier.notify(message(2, "opened", owner="platform"), "pagerduty:platform.key")
    notifier.run()

    assert pagerduty.alerts == {("R" * 32, "inc-1"): "resolved", ("S" * 32, "inc-1"): "triggered"}
    [resolved] = [each for each in pagerduty.events if each["event_action"] == "resolve"]
    assert resolved["payload"]["custom_details"]["note"] == "handed over to platform"


def test_a_message_that_is_told_twice_is_sent_once(notifier, slack):
    """The key of the outbox is incident, revision and channel."""
    for _ in range(2):
        notifier.notify(message(1), DATA)
        notifier.run()

    assert len(slack.posts("C0000001")) == 1


def test_what_slack_no_longer_has_is_posted_anew(notifier, slack):
    """Somebody deleted the message: the next change is not lost with it."""
    notifier.notify(message(1), DATA)
    notifier.run()
    slack.messages["C0000001"].clear()
    notifier.notify(message(2, "resolved"), DATA)
    notifier.run()

    assert [each["text"].split(":")[0] for each in slack.posts("C0000001")] == ["Resolved"]
