"""PagerDuty answers 500 for an hour: others are told, and what is still true then is rung, once."""

import pytest

from alerts.notify import coalescing
from alerts.notify.fallback import Fallback
from tests.service.one_page.shop import KEY, PLATFORM, SALES

_HOUR = 3_600
_LONGEST_WAIT = 300


@pytest.fixture
def away(shop, pagerduty):
    """The job has failed; PagerDuty takes nothing from the beginning on."""
    pagerduty.status = 500
    shop.open()
    return shop


def _titles(slack, channel):
    return [each["text"].split(":")[0] for each in slack.posts(channel)]


def _comes_back(shop, pagerduty):
    pagerduty.status = None
    shop.go(_LONGEST_WAIT)


def test_after_ten_minutes_the_fallback_channel_and_the_metrics_tell(away, slack):
    """Not a second before; and on `NotificationDeliveryStuck` goes by the age of the oldest."""
    away.go(590)
    assert _titles(slack, PLATFORM) == []
    away.go(20)

    [copy] = slack.posts(PLATFORM)
    assert "Not delivered to pagerduty:sales.key: http_500." in str(copy)
    assert away.undelivered() == (1, 610)
    assert _titles(slack, SALES) == ["Page"]


def test_what_is_still_true_an_hour_later_is_rung_once_and_ends(away, slack, pagerduty):
    """One incident, one ring, one message in each channel; the fallback channel hears the end."""
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
    """It is mended after half an hour; PagerDuty half an hour later."""
    shop.go(_HOUR // 2, step=30)
    shop.heal()
    shop.go(_HOUR // 2, step=30)
    assert shop.one.state == "resolved"
    _comes_back(shop, pagerduty)


def test_nobody_is_rung_for_what_is_over_by_then(away, slack, pagerduty):
    """The resolve alone is sent: a try that was answered 500 may have opened it all the same."""
    over_before_it_is_back(away, pagerduty)

    assert pagerduty.pages == []
    assert pagerduty.actions() == ["resolve"]
    assert _titles(slack, SALES) == _titles(slack, PLATFORM) == ["Resolved"]
    assert away.pending() == []


def test_what_may_have_been_opened_by_a_500_is_closed(away, pagerduty):
    """One try was taken, and its answer lost."""
    pagerduty.status, pagerduty.lost_answers = None, 1
    away.go(10)
    pagerduty.status = 500
    away.heal()
    away.go(60)
    _comes_back(away, pagerduty)

    assert pagerduty.pages == [(KEY, away.one.incident_id)]
    assert set(pagerduty.alerts.values()) == {"resolved"}


def test_what_is_bad_again_when_it_is_back_is_rung_once(away, pagerduty):
    """Over after a quarter of an hour, back after half of one: the same incident, one alert."""
    away.go(900, step=30)
    away.heal()
    away.go(900, step=30)
    away.fail()
    away.go(1_800, step=30)
    _comes_back(away, pagerduty)

    assert pagerduty.pages == [(KEY, away.one.incident_id)]
    assert pagerduty.alerts == {(KEY, away.one.incident_id): "triggered"}
    assert away.pending() == []


def test_without_the_look_at_the_end_what_is_over_is_rung(away, pagerduty, monkeypatch):
    """Mutant: each message is sent as it was written."""
    monkeypatch.setattr(coalescing, "_page_lifecycle", coalescing._first)  # noqa: SLF001
    over_before_it_is_back(away, pagerduty)

    assert pagerduty.pages == [(KEY, away.one.incident_id)]


def test_without_the_handing_over_nobody_else_hears_of_it(away, slack, monkeypatch):
    """Mutant: what waits goes on waiting."""
    monkeypatch.setattr(Fallback, "hand_over_overdue", lambda *_: 0)
    away.go(900, step=30)

    assert slack.posts(PLATFORM) == []
    assert away.undelivered()[0] == 0
