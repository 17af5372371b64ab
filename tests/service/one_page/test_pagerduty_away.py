"""PagerDuty that answers 500 for an hour: others are notified, and an open incident pages once."""

import pytest

from alerts.notify import coalescing
from alerts.notify.fallback import Fallback
from tests.service.one_page.shop import KEY, PLATFORM, SALES

_HOUR = 3_600
_LONGEST_WAIT = 300


@pytest.fixture
def away(shop, pagerduty):
    """Fail the job while PagerDuty accepts nothing."""
    pagerduty.status = 500
    shop.open()
    return shop


def _titles(slack, channel):
    return [each["text"].split(":")[0] for each in slack.posts(channel)]


def _comes_back(shop, pagerduty):
    pagerduty.status = None
    shop.go(_LONGEST_WAIT)


def test_the_fallback_channel_is_notified_after_ten_minutes(away, slack):
    """Notify after exactly ten minutes; `NotificationDeliveryStuck` uses the age of the oldest."""
    away.go(590)
    assert _titles(slack, PLATFORM) == []
    away.go(20)

    [copy] = slack.posts(PLATFORM)
    assert "Not delivered to pagerduty:sales.key: http_500." in str(copy)
    assert away.undelivered() == (1, 610)
    assert _titles(slack, SALES) == ["Page"]


def test_an_incident_still_open_after_an_hour_pages_once_and_ends(away, slack, pagerduty):
    """Page once, send one message to each channel, and send the end to the fallback channel."""
    away.go(_HOUR, step=30)
    assert pagerduty.events == []
    _comes_back(away, pagerduty)
    assert pagerduty.pages == [(KEY, away.one.incident_id)]

    away.heal()
    away.go(60)
    assert pagerduty.actions() == ["trigger", "resolve"]
    assert _titles(slack, SALES) == _titles(slack, PLATFORM) == ["Resolved"]
    assert away.one.state == "resolved"
    assert away.pending() == []
    assert away.undelivered() == (1, 0)


def over_before_it_is_back(shop, pagerduty):
    """Recover after half an hour, and restore PagerDuty half an hour later."""
    shop.go(_HOUR // 2, step=30)
    shop.heal()
    shop.go(_HOUR // 2, step=30)
    assert shop.one.state == "resolved"
    _comes_back(shop, pagerduty)


def test_an_incident_that_ended_meanwhile_pages_nobody(away, slack, pagerduty):
    """Send only the resolve, as an attempt with a 500 may have opened the alert."""
    over_before_it_is_back(away, pagerduty)

    assert pagerduty.pages == []
    assert pagerduty.actions() == ["resolve"]
    assert _titles(slack, SALES) == _titles(slack, PLATFORM) == ["Resolved"]
    assert away.pending() == []


def test_an_alert_that_a_500_may_have_opened_is_closed(away, pagerduty):
    """Accept one attempt, and lose its answer."""
    pagerduty.status, pagerduty.lost_answers = None, 1
    away.go(10)
    pagerduty.status = 500
    away.heal()
    away.go(60)
    _comes_back(away, pagerduty)

    assert pagerduty.pages == [(KEY, away.one.incident_id)]
    assert set(pagerduty.alerts.values()) == {"resolved"}


def test_a_fault_that_returned_meanwhile_pages_once(away, pagerduty):
    """Page once for the same incident, which recovered after 15 minutes and failed after 30."""
    away.go(900, step=30)
    away.heal()
    away.go(900, step=30)
    away.fail()
    away.go(1_800, step=30)
    _comes_back(away, pagerduty)

    assert pagerduty.pages == [(KEY, away.one.incident_id)]
    assert pagerduty.alerts == {(KEY, away.one.incident_id): "triggered"}
    assert away.pending() == []


def test_without_coalescing_an_ended_incident_pages(away, pagerduty, monkeypatch):
    """Run the mutant: send each message as it was written."""
    monkeypatch.setattr(coalescing, "_page_lifecycle", coalescing._first)  # noqa: SLF001
    over_before_it_is_back(away, pagerduty)

    assert pagerduty.pages == [(KEY, away.one.incident_id)]


def test_without_the_fallback_nobody_else_is_notified(away, slack, monkeypatch):
    """Run the mutant: keep waiting messages in their channel."""
    monkeypatch.setattr(Fallback, "hand_over_overdue", lambda *_: 0)
    away.go(900, step=30)

    assert slack.posts(PLATFORM) == []
    assert away.undelivered()[0] == 0
