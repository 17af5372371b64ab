"""Notifications that failed by their secret are sent when it is replaced."""

import pytest

from alerts.notify import secret_rotation
from alerts.notify.secret_rotation import requeue_renewed
from lineage.clock import to_micros
from tests.alerts.notify.conftest import DATA, PAGER
from tests.alerts.notify.messages import message


def _look(desk):
    return requeue_renewed(desk.engine, desk.settings, to_micros(desk.clock()))


def _fail(desk, channel, file):
    """Two incidents' messages fail by a wrong secret, of one of them a later one too."""
    right = file.read_text()
    file.write_text("wrong")
    desk.tell(message(1), channel)
    desk.run()
    desk.tell(message(2, "changed"), channel)
    desk.run()
    assert {row[2] for row in desk.rows()} == {"failed"}
    return right


def test_a_new_slack_token_sends_what_failed(desk, slack):
    """The newest of the incident; the older one is overtaken."""
    file = desk.settings.slack_token_file
    right = _fail(desk, DATA, file)
    assert _look(desk) == 0
    file.write_text(right)

    assert _look(desk) == 1
    desk.run()
    assert [row[1:3] for row in desk.rows()] == [(1, "failed"), (2, "sent")]
    assert len(slack.posts("C0000001")) == 1
    assert _look(desk) == 0


def test_a_key_that_was_missing_sends_what_failed(desk, pagerduty):
    """Of PagerDuty each service has a file of its own."""
    file = desk.settings.pagerduty_keys / "orders.key"
    right = _fail(desk, PAGER, file)
    file.unlink()
    assert _look(desk) == 0
    file.write_text(right)

    assert _look(desk) == 1
    desk.run()
    assert len(pagerduty.pages) == 1


def test_the_same_secret_sends_nothing_again(desk, slack):
    """Else each second would try what Slack rejects."""
    _fail(desk, DATA, desk.settings.slack_token_file)
    before = len(slack.requests)

    assert [_look(desk) for _ in range(5)] == [0] * 5
    desk.run()
    assert len(slack.requests) == before


def test_a_secret_replaced_while_the_service_was_down_sends_what_failed(desk):
    """The mark is in the catalog."""
    file = desk.settings.slack_token_file
    right = _fail(desk, DATA, file)
    _look(desk)
    desk.engine.dispose()
    file.write_text(right)

    assert _look(desk) == 1


def test_without_a_failed_notification_nothing_is_written(desk, monkeypatch):
    """No transaction, however often somebody looks."""
    monkeypatch.setattr(secret_rotation, "writing", lambda _: pytest.fail("a write transaction"))

    assert [_look(desk) for _ in range(3)] == [0] * 3


def test_without_the_mark_nothing_is_sent_again(desk, monkeypatch):
    """Mutant: every secret looks alike."""
    monkeypatch.setattr(secret_rotation, "_mark", lambda _: "same")
    file = desk.settings.slack_token_file
    right = _fail(desk, DATA, file)
    _look(desk)
    file.write_text(right)

    assert _look(desk) == 0
