"""Order of messages for one incident and channel, and their single sender."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from alerts.notify import claims, coalescing
from alerts.notify.channels.name import parse_channel
from alerts.notify.outbox import enqueue, prune_notifications, requeue, waiting_messages
from lineage.catalog.engine import write_transaction
from lineage.catalog.tables import notification
from tests.alerts.notify.conftest import DATA, PAGER, TICKETS
from tests.alerts.notify.messages import BEGAN, message

_LEASE_SECONDS = 50


def test_incident_over_after_an_hour_of_errors_is_sent_as_resolved(notifier, slack, pagerduty):
    """Send one message to Slack, and the resolve alone to PagerDuty."""
    slack.status = pagerduty.status = 503
    notifier.notify(message(1), DATA, PAGER)
    notifier.run_for(1_200, step=60)
    notifier.notify(message(2, "resolved"), DATA, PAGER)
    notifier.run_for(1_200, step=60)
    slack.status = pagerduty.status = None
    notifier.run_for(600, step=60)

    assert [each["text"].split(":")[0] for each in slack.posts("C0000001")] == ["Resolved"]
    assert (pagerduty.actions(), pagerduty.pages) == (["resolve"], [])
    assert notifier.rows() == [
        (PAGER, 1, "superseded", "superseded"),
        (PAGER, 2, "sent", ""),
        (DATA, 1, "superseded", "superseded"),
        (DATA, 2, "sent", ""),
    ]


def test_incident_over_before_a_429_passed_is_not_sent(notifier, pagerduty):
    """Send nothing: nothing of it arrived."""
    pagerduty.status = 429
    notifier.notify(message(1), PAGER)
    notifier.run()
    notifier.notify(message(2, "resolved"), PAGER)
    pagerduty.status = None
    notifier.run_for(60)

    assert pagerduty.events == []
    assert [row[2:] for row in notifier.rows()] == [("superseded", "never_triggered")] * 2


def test_resolve_without_a_trigger_is_not_sent(notifier, pagerduty):
    """Drop it: the trigger was rejected."""
    notifier.resolve_after_rejection(pagerduty)

    assert pagerduty.actions() == []
    assert notifier.rows()[1] == (PAGER, 2, "superseded", "never_triggered")


def test_later_message_waits_for_the_one_before(notifier, receiver):
    """Hold revision 2 while revision 1 waits."""
    receiver.status = 500
    notifier.notify(message(1), TICKETS)
    notifier.run()
    receiver.status = None
    notifier.notify(message(2, "resolved"), TICKETS)
    notifier.run_for(60)

    assert [each["revision"] for each in receiver.tickets] == [1, 2]


def _comes_back(notifier):
    notifier.notify(message(1), PAGER)
    notifier.run()
    for revision, kind in ((2, "resolved"), (3, "opened")):
        notifier.notify(message(revision, kind), PAGER)
    notifier.run()


def test_fault_that_came_back_pages_again(notifier, pagerduty):
    """Send the waiting resolve of the first before it."""
    _comes_back(notifier)

    assert pagerduty.actions() == ["trigger", "resolve", "trigger"]
    assert len(pagerduty.pages) == 2


def _is_resolved_there_and_changes(notifier, pagerduty, by):
    notifier.notify(message(1), PAGER)
    notifier.run()
    [key] = pagerduty.pages
    pagerduty.do(key, "incident.resolved", by)
    for revision in (2, 3):
        notifier.notify(message(revision, "changed"), PAGER)
        notifier.run()
    notifier.notify(message(4, "resolved"), PAGER)
    notifier.run()


@pytest.mark.parametrize("by", ["Ada Byron", None])
def test_change_does_not_page_what_was_resolved_in_pagerduty(notifier, pagerduty, by):
    """Leave the alert resolved, by a person or by its auto-resolve."""
    _is_resolved_there_and_changes(notifier, pagerduty, by)

    assert len(pagerduty.pages) == 1
    assert pagerduty.actions() == ["trigger", "resolve"]
    assert [row[2:] for row in notifier.rows()][1:3] == [("superseded", "would_page_again")] * 2


def test_without_that_rule_each_change_pages_again(notifier, pagerduty, monkeypatch):
    """Run the mutant: send a change as a trigger of the same key."""
    monkeypatch.setattr(coalescing, "_changes_that_page", lambda *_: [])
    _is_resolved_there_and_changes(notifier, pagerduty, "Ada Byron")

    assert len(pagerduty.pages) == 2


def test_without_the_rule_a_resolve_is_dropped(notifier, pagerduty, monkeypatch):
    """Run the mutant: treat PagerDuty as Slack."""
    monkeypatch.setattr(coalescing, "_page_lifecycle", coalescing._latest)  # noqa: SLF001
    _comes_back(notifier)

    assert pagerduty.actions() == ["trigger", "trigger"]
    assert len(pagerduty.pages) == 1


def test_without_the_order_a_later_message_overtakes(notifier, receiver, monkeypatch):
    """Run the mutant: read waiting messages newest first."""
    newest_first = notification.c.revision.desc()
    monkeypatch.setattr(
        claims,
        "waiting_messages",
        lambda *given: waiting_messages(*given).order_by(None).order_by(newest_first),
    )
    for revision in (1, 2):
        notifier.notify(message(revision), TICKETS)
    notifier.run()

    assert [each["revision"] for each in receiver.tickets] == [2, 1]


def test_message_that_raises_delays_no_other(notifier, slack, monkeypatch):
    """Send the others of its channel."""
    from alerts.notify.channels.slack import delivery as module  # noqa: PLC0415 - patched

    shown = module._render  # noqa: SLF001

    def stumble(failing):
        if failing.incident_id == "inc-1":
            raise ZeroDivisionError
        return shown(failing)

    monkeypatch.setattr(module, "_render", stumble)
    for incident in ("inc-1", "inc-2", "inc-3"):
        notifier.notify(message(1, incident_id=incident), DATA)
    notifier.run_for(120)

    assert len(slack.posts("C0000001")) == 2
    assert (DATA, 1, "waiting", "internal") in notifier.rows()


def _enqueue_all(catalog, *revisions: int) -> None:
    with write_transaction(catalog) as connection:
        for revision in revisions:
            enqueue(connection, message(revision, "test"), parse_channel(TICKETS))


def test_one_of_many_senders_gets_a_message(catalog):
    """Let eight senders claim one message at the same time."""
    _enqueue_all(catalog, 1)

    def reach(_: int) -> bool:
        with write_transaction(catalog) as connection:
            return claims.claim(connection, TICKETS, BEGAN, _LEASE_SECONDS) is not None

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(reach, range(8))) == 1


def test_next_message_waits_while_one_is_sent(catalog):
    """Hold it for the lease of the first."""
    _enqueue_all(catalog, 1, 2)
    with write_transaction(catalog) as connection:
        first = claims.claim(connection, TICKETS, BEGAN, _LEASE_SECONDS)
        second = claims.claim(connection, TICKETS, BEGAN, _LEASE_SECONDS)
        late = claims.claim(connection, TICKETS, BEGAN + 50_000_000, _LEASE_SECONDS)

    assert first is not None
    assert second is None
    assert late is not None
    assert (late.message.revision, late.task.doubt_since) == (1, BEGAN)


def test_ended_incident_is_pruned_and_open_one_kept(notifier, pagerduty):
    """Keep what a later resolve needs."""
    notifier.notify(message(1), PAGER)
    notifier.notify(message(1, incident_id="inc-2"), PAGER)
    notifier.notify(message(2, "resolved", incident_id="inc-2"), PAGER)
    notifier.run()
    with write_transaction(notifier.engine) as connection:
        assert prune_notifications(connection, notifier.clock.micros + 1) == 2
    notifier.notify(message(2, "resolved"), PAGER)
    notifier.run()

    assert set(pagerduty.alerts.values()) == {"resolved"}


def test_rejected_message_is_sent_with_a_new_token(notifier, slack):
    """Requeue it; leave out what was overtaken."""
    slack.token = "xoxb-new"  # noqa: S105 - of nobody
    for incident, revision in (("inc-1", 1), ("inc-1", 2), ("inc-2", 1)):
        notifier.notify(message(revision, incident_id=incident), DATA)
        notifier.run()
    slack.token = "xoxb-right"  # noqa: S105 - of nobody
    with write_transaction(notifier.engine) as connection:
        assert requeue(connection, DATA, notifier.clock.micros) == 2
    notifier.run()

    assert len(slack.posts("C0000001")) == 2


def test_notice_to_pagerduty_is_rejected(notifier):
    """Raise where it is enqueued."""
    with pytest.raises(ValueError, match="notice"):
        notifier.notify(message(1, "notice"), PAGER)


def test_pass_without_work_takes_no_write_lock(notifier, monkeypatch):
    """Leave SQLite to the pipeline."""

    def fail_the_test(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("alerts.notify.sender.write_transaction", fail_the_test)

    assert notifier.run() == 0


def test_page_overtakes_the_tickets_of_its_channel(notifier, slack):
    """Send the page before the tickets that were queued earlier.

    A ticket whose text quotes the page's severity stays a ticket.
    """
    for number in range(5):
        more = {"severity": "ticket", "what": 'a "severity":"page" that is none'}
        notifier.notify(message(1, incident_id=f"ticket-{number}", **more), DATA)
    notifier.notify(message(1, incident_id="z-page"), DATA)
    notifier.run()

    texts = [each["text"].split(":")[0] for each in slack.posts("C0000001")]
    assert texts == ["Page", *["Ticket"] * 5]
