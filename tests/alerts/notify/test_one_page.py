"""A person is rung once for a fault, and two people at most."""

import pytest

from alerts.incidents.steps import Command
from alerts.notify.notification_state import MICROS
from lineage.policy.model import Owner, Policy
from tests.alerts.incidents.stories import found, root
from tests.alerts.notify.memory_router import MemoryRouter, outage

PAGE = {"owner": "shop", "level": "page"}
BARE = Policy(owners=(Owner("shop", "#shop", "shop.key"), Owner("pay", "#pay", "pay.key")))


def came_back(router, at=200):
    """Resolved, and bad again."""
    router.opened(found("ab", **PAGE))
    router.at(60)
    router.at(105)
    router.at(at, found("ab", **PAGE))
    return router.at(at + 30, found("ab", **PAGE))


def test_what_comes_back_is_told_and_rings_nobody():
    """The same incident: Slack says so, whoever was rung is not rung again for it."""
    router = MemoryRouter(BARE)

    assert came_back(router) == ["slack:#shop changed"]
    assert list(router.page_counts.values()) == [1]
    router.at(300)
    assert router.at(345) == ["slack:#shop resolved"]


def test_what_comes_back_and_stays_rings_once_more():
    """PagerDuty was told that it is over: after 15 minutes without an answer it is told again."""
    router = MemoryRouter(BARE)
    came_back(router)

    assert router.route_due(230 + 899) == []
    assert router.route_due(230 + 900) == ["pagerduty:shop.key opened"]
    router.at(1_200)
    assert router.at(1_245) == ["pagerduty:shop.key resolved", "slack:#shop resolved"]
    router.at(1_300, found("ab", **PAGE))
    assert router.at(1_330, found("ab", **PAGE)) == ["slack:#shop changed"]
    assert "pagerduty:shop.key opened" not in router.route_due(9_999)
    assert list(router.page_counts.values()) == [2]


def test_what_somebody_took_on_rings_no_more():
    """Acknowledged after it came back: nobody need be rung."""
    router = MemoryRouter(BARE)
    came_back(router)
    router.do(300, "acknowledge", found("ab", **PAGE))

    assert router.route_due(9_999) == []


@pytest.mark.parametrize("is_remembered", [True, False])
def test_what_was_taken_on_before_it_came_back_rings_no_more(monkeypatch, is_remembered):
    """Within the hour. The mutant forgets who has it, and calls them again."""
    if not is_remembered:
        monkeypatch.setattr("alerts.incidents.life._is_taken_on", lambda *_, **__: False)
    router = MemoryRouter(BARE)
    router.opened(found("ab", **PAGE))
    router.do(40, "acknowledge", found("ab", **PAGE))
    router.at(60)
    router.at(105)
    router.at(200, found("ab", **PAGE))

    assert router.at(230, found("ab", **PAGE)) == ["slack:#shop changed"]
    assert bool(router.route_due(9_999)) is not is_remembered


def test_where_there_is_no_other_way_it_rings_again():
    """An owner with a pager alone: told twice rather than not at all."""
    router = MemoryRouter(Policy(owners=(Owner("shop", pagerduty_key_file="shop.key"),)))

    assert came_back(router) == ["pagerduty:shop.key opened"]


def test_without_the_rule_it_would_ring_each_time(monkeypatch):
    """The mutant: a flapping job is a page each time."""
    monkeypatch.setattr("alerts.notify.first_notification._can_page_again", lambda *_: True)
    router = MemoryRouter(BARE)
    came_back(router)

    assert list(router.page_counts.values()) == [2]


def handed_back(router):
    """To pay, and back to shop."""
    upstream = found("zab", owner="pay", level="page", faults={root(name) for name in "zab"})
    router.opened(found("ab", **PAGE))
    router.at(60, upstream)
    faults = {root(name) for name in "yzab"}
    return router.at(120, found("yzab", owner="shop", level="page", faults=faults))


def test_handed_back_is_told_and_rings_nobody_twice():
    """Two were rung: whoever was before hears it in Slack."""
    router = MemoryRouter(BARE)

    assert handed_back(router) == [
        "pagerduty:pay.key handed_over",
        "slack:#pay handed_over",
        "slack:#shop opened",
    ]
    assert sorted(router.page_counts.values()) == [1, 1]
    assert router.route_due(9_999) == []


def merged(router):
    """Of shop and of pay, one root; its owner is pay, who was rung for the younger."""
    mine, other = found("ab", **PAGE), found("cd", owner="pay", level="page")
    router.opened(mine)
    router.at(40, mine, other)
    router.at(70, mine, other)
    faults = {root(name) for name in "cad"}
    return router.at(120, found("cdab", owner="pay", level="page", faults=faults))


def test_who_was_rung_by_what_was_merged_is_not_rung_again():
    """The alert that rang goes on standing for it, and ends with it."""
    router = MemoryRouter(BARE)

    assert merged(router) == [
        "pagerduty:pay.key changed",
        "pagerduty:shop.key handed_over",
        "slack:#pay changed",
        "slack:#pay resolved",
        "slack:#shop handed_over",
    ]
    assert sorted(router.page_counts.values()) == [1, 1]
    router.at(200)
    assert router.at(245) == ["pagerduty:pay.key resolved", "slack:#pay resolved"]


def test_without_that_the_new_owner_would_be_rung_twice(monkeypatch):
    """The mutant."""
    monkeypatch.setattr("alerts.notify.updates._adopt_pages", lambda *_: None)
    router = MemoryRouter(BARE)
    merged(router)

    assert sorted(router.page_counts.values()) == [1, 1, 1]


def test_acknowledged_before_anybody_was_told_rings_nobody():
    """Somebody saw it elsewhere: Slack is told that it is there."""
    router = MemoryRouter(BARE, mode="alertmanager")
    router.opened(found("a", **PAGE))
    router.at(40, found("a", **PAGE), commands=(Command(router.one.id, "acknowledge", "ada"),))

    assert router.route_due(30 + 120) == ["slack:#shop opened"]


def test_alertmanager_is_waited_for_two_minutes():
    """Then the service tells by itself."""
    router = MemoryRouter(BARE, mode="alertmanager")

    assert router.opened(found("a", **PAGE)) == []
    assert router.route_due(30 + 119) == []
    assert router.route_due(30 + 120) == ["pagerduty:shop.key opened", "slack:#shop opened"]
    assert router.confirm(200) == []


def test_without_the_rule_an_alertmanager_that_died_tells_nobody(monkeypatch):
    """The mutant."""
    monkeypatch.setattr("alerts.notify.planning.start_or_hold", lambda *_: None)
    router = MemoryRouter(BARE, mode="alertmanager")
    router.opened(found("a", **PAGE))

    assert router.route_due(9_999) == []


def test_alertmanagers_call_has_it_told_at_once():
    """What changes from then on is told at once too."""
    router = MemoryRouter(BARE, mode="alertmanager")
    router.opened(found("a", **PAGE))

    assert router.confirm(45) == ["pagerduty:shop.key opened", "slack:#shop opened"]
    assert router.at(60, found("a", "lost", **PAGE)) == [
        "pagerduty:shop.key changed",
        "slack:#shop changed",
    ]
    assert router.route_due(9_999) == []


def test_behind_an_outage_nothing_that_waits_is_told():
    """It opened just before: it rings when the outage is over and it is still bad."""
    router = MemoryRouter(BARE, mode="alertmanager")
    bad = found("a", **PAGE)
    router.opened(bad)
    router.at(60, bad, outage())
    router.at(90, bad, outage())

    assert "pagerduty:shop.key opened" not in router.route_due(30 + 120)
    router.at(300, bad)
    router.at(345, bad)
    assert "pagerduty:shop.key opened" in router.route_due(360)


def test_without_inhibition_it_would_ring_behind_the_outage(monkeypatch):
    """The mutant."""
    monkeypatch.setattr("alerts.notify.context.RoutingContext.is_muted", lambda *_: False)
    router = MemoryRouter(BARE, mode="alertmanager")
    bad = found("a", **PAGE)
    router.opened(bad)
    router.at(60, bad, outage())
    router.at(90, bad, outage())

    assert "pagerduty:shop.key opened" in router.route_due(30 + 120)


def test_an_outage_that_alertmanager_told_of_mutes_as_well():
    """Its own alert on ingestion fires: no dataset's incident is told beside it."""
    router = MemoryRouter(BARE, mode="alertmanager")
    router.is_alerted = True
    router.opened(found("a", **PAGE))

    assert router.route_due(30 + 120) == []
    router.is_alerted = False
    assert router.route_due(30 + 130) == ["pagerduty:shop.key opened", "slack:#shop opened"]


def test_an_outage_and_an_access_are_told_whatever_is_out():
    """What is Lineward's own is muted by nothing."""
    router = MemoryRouter(mode="alertmanager")
    router.is_alerted = True
    router.opened(outage())

    assert router.route_due(30 + 120) == ["pagerduty:platform.key opened", "slack:#platform opened"]


def test_a_third_owner_is_told_and_rung_late():
    """Two people at most at once; a third only where nobody took it on."""
    router = MemoryRouter()
    router.opened(found("ab", **PAGE))
    router.at(60, found("zab", owner="pay", level="page", faults={root(name) for name in "zab"}))
    faults = {root(name) for name in "yzab"}

    said = router.at(120, found("yzab", owner="boss", level="page", faults=faults))

    assert "slack:#boss opened" in said
    assert "pagerduty:boss.key opened" not in said
    assert next(iter(router.states.values())).repage_at == (120 + 900) * MICROS
