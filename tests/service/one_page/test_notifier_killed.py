"""Notifier that is killed with -9 at each critical place."""

import pytest

from alerts.notify.channels.pagerduty.delivery import _SingleAttemptClient
from alerts.notify.channels.slack.history import ChannelHistory
from lineage.catalog import tables
from tests.alerts.notify.alertmanager_calls import alert, body
from tests.service.one_page.killed_notifier import (
    BY_CALL,
    BY_TIME,
    FAILPOINTS,
    HALVES,
    run_until_killed,
)
from tests.service.one_page.shop import ALERTMANAGER, FINANCE, JSON, KEY, SALES

pytestmark = pytest.mark.faults


def _kill_in_turn(shop, failpoint, after):
    """Evaluate after so many seconds, and kill the notifier in that turn."""
    shop.clock.pass_(after)
    shop.evaluate()
    return run_until_killed(shop.given, shop.clock.micros, failpoint)


def _recover(shop):
    """Run the next process, beyond the lease of the one that died."""
    shop.restart()
    shop.go(shop.given.delivery.lease_seconds)


def opens(shop, failpoint):
    """Kill it when the fault is seen and when it opens; return whether it died."""
    shop.fail()
    died = []
    for after in (10, 40):
        died.append(_kill_in_turn(shop, failpoint, after))
        _recover(shop)
    return any(died)


def ends(shop, failpoint):
    """Kill it when the incident is resolved; return whether it died."""
    shop.heal()
    shop.go(10)
    died = _kill_in_turn(shop, failpoint, 60)
    _recover(shop)
    return died


def _first_words(slack, channel):
    return [each["text"].split(":")[0] for each in slack.posts(channel)]


@pytest.mark.parametrize("failpoint", FAILPOINTS)
def test_one_incident_is_one_page_and_one_message_after_any_kill(shop, slack, pagerduty, failpoint):
    """Kill it as the fault is seen, as it opens and as it ends."""
    died = [opens(shop, failpoint)]
    number = shop.one.incident_id
    assert pagerduty.pages == [(KEY, number)]
    assert (_first_words(slack, SALES), _first_words(slack, FINANCE)) == (["Page"], ["Notice"])

    died.append(ends(shop, failpoint))
    assert any(died)
    assert (shop.one.incident_id, shop.one.state) == (number, "resolved")
    assert [each.what for each in shop.rows(tables.incident_event)] == ["opened", "resolved"]
    assert pagerduty.pages == [(KEY, number)]
    assert pagerduty.alerts == {(KEY, number): "resolved"}
    assert (_first_words(slack, SALES), len(slack.replies(SALES))) == (["Resolved"], 1)
    assert _first_words(slack, FINANCE) == ["Notice"]
    assert shop.pending() == []


@pytest.mark.parametrize("failpoint", BY_TIME)
def test_a_notification_by_time_is_sent_once_after_any_kill(shop, slack, pagerduty, failpoint):
    """Kill it as the two minutes without a call of Alertmanager end."""
    shop.restart(mode="alertmanager")
    shop.open()
    assert _kill_in_turn(shop, failpoint, 120)
    assert (slack.requests, pagerduty.requests) == ([], [])
    _recover(shop)

    assert pagerduty.pages == [(KEY, shop.one.incident_id)]
    assert (_first_words(slack, SALES), _first_words(slack, FINANCE)) == (["Page"], ["Notice"])


@pytest.mark.parametrize("failpoint", BY_CALL)
def test_a_call_that_kills_the_service_counts_once_when_repeated(shop, slack, pagerduty, failpoint):
    """Let Alertmanager repeat the unanswered call to the next process."""
    shop.restart(mode="alertmanager")
    shop.open()
    call = body(*map(alert, shop.firing()))
    assert run_until_killed(shop.given, shop.clock.micros, failpoint, call)
    again = shop.given.client(shop.clock).post(ALERTMANAGER, content=call, headers=JSON)
    assert again.status_code == 200
    _recover(shop)

    assert pagerduty.pages == [(KEY, shop.one.incident_id)]
    assert (_first_words(slack, SALES), _first_words(slack, FINANCE)) == (["Page"], ["Notice"])


def test_without_the_transaction_an_opened_incident_is_never_notified(shop, slack, pagerduty):
    """Run the mutant: commit the incident before its messages, and die between."""
    [half] = HALVES
    assert opens(shop, half)
    shop.go(3_600, step=60)

    assert shop.one.state == "open"
    assert (slack.requests, pagerduty.requests) == ([], [])


def test_without_the_search_a_kill_is_a_second_message(shop, slack, monkeypatch):
    """Run the mutant: do not search for a message that was sent."""
    monkeypatch.setattr(ChannelHistory, "root", lambda *_: None)
    assert opens(shop, "after Slack's post")

    assert max(len(slack.posts(each)) for each in (SALES, FINANCE)) == 2


def test_without_the_incident_as_its_key_a_kill_is_a_second_page(shop, pagerduty, monkeypatch):
    """Run the mutant: use another key for the incident in the next process."""
    send = _SingleAttemptClient.send_event

    def send_as_another(self, action, *, dedup_key, **event):  # noqa: ANN003 - as the library's
        return send(self, action, dedup_key=f"{dedup_key}-again", **event)

    monkeypatch.setattr(_SingleAttemptClient, "send_event", send_as_another)
    assert opens(shop, "after PagerDuty's answer")

    assert len(pagerduty.pages) == 2
