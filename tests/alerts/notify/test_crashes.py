"""Sender that dies at each critical point: nothing is lost or sent twice."""

from collections.abc import Callable

import pytest

from alerts.notify import outbox
from alerts.notify.attempts import AttemptRecorder
from alerts.notify.channels.name import parse_channel
from alerts.notify.channels.slack.delivery import _Delivery
from alerts.notify.channels.slack.history import ChannelHistory
from alerts.notify.sender import Sender
from lineage.catalog.engine import write_transaction
from tests.alerts.notify.conftest import DATA, PAGER, TICKETS, Notifier
from tests.alerts.notify.messages import message

Failpoint = Callable[[pytest.MonkeyPatch], None]


class KilledError(BaseException):
    """End of the process."""


def _before(owner: type, name: str) -> Failpoint:
    """Die instead of the call."""

    def arm(patch: pytest.MonkeyPatch) -> None:
        def die(*_: object, **__: object) -> None:
            raise KilledError

        patch.setattr(owner, name, die)

    return arm


def _after(owner: type, name: str) -> Failpoint:
    """Die after the call."""

    def arm(patch: pytest.MonkeyPatch) -> None:
        done = getattr(owner, name)

        def do_and_die(*given: object, **named: object) -> None:
            done(*given, **named)
            raise KilledError

        patch.setattr(owner, name, do_and_die)

    return arm


ANYWHERE = {
    "before the claim": _before(Sender, "_claim"),
    "after the claim": _after(Sender, "_claim"),
    "before sending": _before(Sender, "_send"),
    "between send and mark": _after(Sender, "_send"),
    "before the mark": _before(Sender, "_record"),
    "while marking": _after(AttemptRecorder, "record"),
    "after the mark": _after(Sender, "_record"),
}
IN_SLACK = ANYWHERE | {
    "before posting": _before(_Delivery, "_post"),
    "after posting": _after(_Delivery, "_post"),
    "before editing": _before(_Delivery, "_edit"),
    "between edit and reply": _before(_Delivery, "_reply"),
    "after the reply": _after(_Delivery, "_reply"),
}


def die(notifier: Notifier, failpoint: Failpoint) -> bool:
    """Run one pass that dies at the failpoint; return whether it got there."""
    with pytest.MonkeyPatch.context() as patch:
        failpoint(patch)
        try:
            notifier.run()
        except KilledError:
            return True
    return False


def _recover(notifier: Notifier) -> None:
    """Run the next process, after the lease of the one that died."""
    notifier.clock.pass_(notifier.settings.lease_seconds)
    notifier.run()


@pytest.mark.parametrize("name", IN_SLACK)
def test_killed_sender_leaves_one_message_and_one_reply_in_slack(notifier, slack, name):
    """Kill it at the post and again at the edit."""
    notifier.notify(message(1), DATA)
    died = [die(notifier, IN_SLACK[name])]
    _recover(notifier)
    notifier.notify(message(2, "resolved"), DATA)
    died.append(die(notifier, IN_SLACK[name]))
    _recover(notifier)

    assert any(died)
    assert [each["text"].split(":")[0] for each in slack.posts("C0000001")] == ["Resolved"]
    assert len(slack.replies("C0000001")) == 1
    assert {row[2] for row in notifier.rows()} == {"sent"}


@pytest.mark.parametrize("name", ANYWHERE)
def test_killed_sender_pages_once_and_resolves(notifier, pagerduty, name):
    """Rely on PagerDuty's dedup_key."""
    notifier.notify(message(1), PAGER)
    assert die(notifier, ANYWHERE[name])
    _recover(notifier)
    notifier.notify(message(2, "resolved"), PAGER)
    assert die(notifier, ANYWHERE[name])
    _recover(notifier)

    assert pagerduty.pages == [("R" * 32, "inc-1")]
    assert set(pagerduty.alerts.values()) == {"resolved"}
    assert pagerduty.actions()[-1] == "resolve"


@pytest.mark.parametrize("name", ANYWHERE)
def test_killed_sender_leaves_one_ticket(notifier, receiver, name):
    """Rely on the id of the webhook."""
    notifier.notify(message(1), TICKETS)
    assert die(notifier, ANYWHERE[name])
    _recover(notifier)

    assert [each["revision"] for each in receiver.tickets] == [1]


def test_sender_that_dies_repeatedly_posts_once(notifier, slack):
    """Keep the doubt as old as the first attempt, so that the search reaches back."""
    notifier.notify(message(1), DATA)
    for _ in range(3):
        assert die(notifier, IN_SLACK["between send and mark"])
        notifier.clock.pass_(3_600)
    notifier.run()

    assert len(slack.posts("C0000001")) == 1


def test_post_before_a_crash_is_edited_by_a_later_revision(notifier, slack):
    """Find the post of the process that died."""
    notifier.notify(message(1), DATA)
    assert die(notifier, IN_SLACK["between send and mark"])
    notifier.notify(message(2, "resolved"), DATA)
    _recover(notifier)

    assert [each["text"].split(":")[0] for each in slack.posts("C0000001")] == ["Resolved"]
    assert [row[2:] for row in notifier.rows()] == [("superseded", "superseded"), ("sent", "")]


def test_reply_follows_a_post_and_an_edit_without_a_record(notifier, slack):
    """Keep the revision of the post: its edit is not the reply."""
    notifier.notify(message(1), DATA)
    assert die(notifier, IN_SLACK["between send and mark"])
    notifier.notify(message(2, "resolved"), DATA)
    notifier.clock.pass_(notifier.settings.lease_seconds)
    assert die(notifier, IN_SLACK["between edit and reply"])
    _recover(notifier)

    assert len(slack.posts("C0000001")) == 1
    assert len(slack.replies("C0000001")) == 1


def test_channel_given_by_name_is_searched(notifier, slack):
    """Look up its id: history needs one."""
    notifier.notify(message(1), "slack:#payments")
    assert die(notifier, IN_SLACK["between send and mark"])
    _recover(notifier)

    assert len(slack.posts("C0000002")) == 1


def test_post_is_found_behind_hundreds_of_others(notifier, slack):
    """Turn the pages of a busy channel."""
    notifier.notify(message(1), DATA)
    assert die(notifier, IN_SLACK["between send and mark"])
    slack.messages["C0000001"] += [{"ts": f"{slack.next_ts()}", "text": "hello"}] * 450
    _recover(notifier)

    assert slack.calls("conversations.history") == 5
    assert slack.calls("chat.postMessage") == 1


def test_repeat_is_counted_where_history_is_forbidden(notifier, slack, counted):
    """Send it again rather than never: the app lacks the scope."""
    slack.errors["conversations.history"] = "missing_scope"
    notifier.notify(message(1), DATA)
    assert die(notifier, IN_SLACK["between send and mark"])
    _recover(notifier)

    assert len(slack.posts("C0000001")) == 2
    assert counted("repeated") == {(DATA, ""): 1}


def test_repeat_is_counted_where_history_is_too_long(notifier, slack, counted):
    """Send it again after a thousand later messages."""
    notifier.notify(message(1), DATA)
    assert die(notifier, IN_SLACK["between send and mark"])
    slack.messages["C0000001"] += [{"ts": f"{slack.next_ts()}", "text": "hello"}] * 1_100
    _recover(notifier)

    assert slack.calls("conversations.history") == 10
    assert slack.calls("chat.postMessage") == 2
    assert counted("repeated") == {(DATA, ""): 1}


def test_repeat_to_pagerduty_is_counted(notifier, pagerduty, counted):
    """Count it though it changes nothing there."""
    notifier.notify(message(1), PAGER)
    assert die(notifier, ANYWHERE["between send and mark"])
    _recover(notifier)

    assert pagerduty.actions() == ["trigger", "trigger"]
    assert counted("repeated") == {(PAGER, ""): 1}


def test_message_rolled_back_is_not_sent(notifier, slack):
    """Store the message in the transaction of its change."""

    def change_and_die() -> None:
        with write_transaction(notifier.engine) as connection:
            outbox.enqueue(connection, message(1), parse_channel(DATA))
            raise KilledError

    with pytest.raises(KilledError):
        change_and_die()

    assert notifier.run() == 0
    assert not slack.requests


def test_without_the_search_a_crash_posts_twice(notifier, slack, monkeypatch):
    """Run the mutant: search no history."""
    monkeypatch.setattr(ChannelHistory, "root", lambda *_: None)
    notifier.notify(message(1), DATA)
    assert die(notifier, IN_SLACK["between send and mark"])
    _recover(notifier)

    assert len(slack.posts("C0000001")) == 2


def test_without_the_search_of_the_thread_it_replies_twice(notifier, slack, monkeypatch):
    """Run the mutant: search no thread."""
    monkeypatch.setattr(ChannelHistory, "has_reply", lambda *_: False)
    notifier.notify(message(1), DATA)
    notifier.run()
    notifier.notify(message(2, "resolved"), DATA)
    assert die(notifier, IN_SLACK["after the reply"])
    _recover(notifier)

    assert len(slack.replies("C0000001")) == 2


def test_without_a_recorded_claim_a_crash_posts_twice(notifier, slack, monkeypatch):
    """Run the mutant: record no attempt before it is made."""
    notifier.notify(message(1), DATA)
    with monkeypatch.context() as patch:
        patch.setattr("alerts.notify.claims._record_attempt", lambda _, rows, *__: rows[0])
        assert die(notifier, IN_SLACK["between send and mark"])
    _recover(notifier)

    assert len(slack.posts("C0000001")) == 2
