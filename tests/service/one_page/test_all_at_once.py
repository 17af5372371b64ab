"""Hour of all faults at once: one incident, one page and one message each."""

from random import Random

import pytest

from lineage.catalog import tables
from tests.service.one_page.killed_notifier import BY_TIME, FAILPOINTS, run_until_killed
from tests.service.one_page.shop import FINANCE, KEY, PLATFORM, SALES

pytestmark = pytest.mark.faults

_FIVE_MINUTES = 300
_STEP = 20
_ANYWHERE = sorted(FAILPOINTS | BY_TIME)
_FIRST = (
    "tests/service/one_page/test_all_at_once.py"
    "::test_an_hour_of_all_faults_notifies_each_owner_once[1]"
)


def _five_minutes(shop, chance):
    """Kill the notifier at a random place within five minutes, if it gets there, and restart it."""
    shop.clock.pass_(_STEP)
    shop.evaluate()
    died = run_until_killed(shop.given, shop.clock.micros, chance.choice(_ANYWHERE))
    shop.restart()
    shop.go(_FIVE_MINUTES - _STEP, step=_STEP)
    return died


def _first_words(slack):
    fields = {each: slack.posts(each) for each in (SALES, FINANCE, PLATFORM)}
    return {each: [one["text"].split(":")[0] for one in posts] for each, posts in fields.items()}


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.nightly(short=_FIRST))])
def test_an_hour_of_all_faults_notifies_each_owner_once(shop, slack, pagerduty, seed):
    """Lose Alertmanager, answer 500 and 429, and kill the notifier."""
    chance = Random(seed)  # noqa: S311 - of where it dies
    shop.restart(mode="alertmanager")
    pagerduty.status, slack.limited[SALES] = 500, 90
    shop.fail()
    died = [_five_minutes(shop, chance) for _ in range(6)]
    slack.limited.clear()
    died += [_five_minutes(shop, chance) for _ in range(6)]
    number = shop.one.incident_id
    assert any(died)
    assert pagerduty.pages == []
    pagerduty.status = None
    _five_minutes(shop, chance)
    shop.go(_FIVE_MINUTES, step=_STEP)

    assert shop.one.state == "open"
    assert pagerduty.pages == [(KEY, number)]
    assert _first_words(slack) == {SALES: ["Page"], FINANCE: ["Notice"], PLATFORM: ["Page"]}
    assert shop.pending() == []

    shop.heal()
    _five_minutes(shop, chance)
    assert [each.what for each in shop.rows(tables.incident_event)] == ["opened", "resolved"]
    assert pagerduty.alerts == {(KEY, number): "resolved"}
    assert len(pagerduty.pages) == 1
    over = {SALES: ["Resolved"], FINANCE: ["Notice"], PLATFORM: ["Resolved"]}
    assert _first_words(slack) == over
    assert shop.pending() == []
