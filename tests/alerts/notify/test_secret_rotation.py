"""Failed notifications, which are sent when their secret is replaced."""

import pytest

from alerts.notify import secret_rotation
from alerts.notify.secret_rotation import requeue_after_rotation
from lineage.process.clock import to_micros
from tests.alerts.notify.conftest import DATA, PAGER
from tests.alerts.notify.messages import message


def _look(notifier):
    return requeue_after_rotation(notifier.engine, notifier.settings, to_micros(notifier.clock()))


def _fail(notifier, channel, file):
    """Fail messages of two incidents by a wrong secret, of one of them a later one too."""
    right = file.read_text()
    file.write_text("wrong")
    notifier.notify(message(1), channel)
    notifier.run()
    notifier.notify(message(2, "changed"), channel)
    notifier.run()
    assert {row[2] for row in notifier.rows()} == {"failed"}
    return right


def test_new_slack_token_sends_what_failed(notifier, slack):
    """Send the newest of each incident."""
    file = notifier.settings.slack_token_file
    right = _fail(notifier, DATA, file)
    assert _look(notifier) == 0
    file.write_text(right)

    assert _look(notifier) == 1
    notifier.run()
    assert [row[1:3] for row in notifier.rows()] == [(1, "failed"), (2, "sent")]
    assert len(slack.posts("C0000001")) == 1
    assert _look(notifier) == 0


def test_added_key_sends_what_failed(notifier, pagerduty):
    """Read the file of each PagerDuty service."""
    file = notifier.settings.pagerduty_keys / "orders.key"
    right = _fail(notifier, PAGER, file)
    file.unlink()
    assert _look(notifier) == 0
    file.write_text(right)

    assert _look(notifier) == 1
    notifier.run()
    assert len(pagerduty.pages) == 1


def test_same_secret_sends_nothing(notifier, slack):
    """Do not retry each second what Slack rejects."""
    _fail(notifier, DATA, notifier.settings.slack_token_file)
    before = len(slack.requests)

    assert [_look(notifier) for _ in range(5)] == [0] * 5
    notifier.run()
    assert len(slack.requests) == before


def test_secret_replaced_while_down_sends_what_failed(notifier):
    """Compare with the mark in the catalog."""
    file = notifier.settings.slack_token_file
    right = _fail(notifier, DATA, file)
    _look(notifier)
    notifier.engine.dispose()
    file.write_text(right)

    assert _look(notifier) == 1


def test_without_a_failed_notification_nothing_is_written(notifier, monkeypatch):
    """Open no write transaction."""
    monkeypatch.setattr(
        secret_rotation, "write_transaction", lambda _: pytest.fail("a write transaction")
    )

    assert [_look(notifier) for _ in range(3)] == [0] * 3


def test_without_the_mark_nothing_is_sent_again(notifier, monkeypatch):
    """Run the mutant: give every secret the same mark."""
    monkeypatch.setattr(secret_rotation, "_fingerprint", lambda _: "same")
    file = notifier.settings.slack_token_file
    right = _fail(notifier, DATA, file)
    _look(notifier)
    file.write_text(right)

    assert _look(notifier) == 0
