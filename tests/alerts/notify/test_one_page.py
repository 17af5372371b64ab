"""A person is rung once for a fault, and two people at most."""

import pytest

from alerts.incidents.steps import Command
from alerts.notify.notification_state import MICROS
from lineage.policy.model import Owner, Policy
from tests.alerts.incidents.stories import found, root
from tests.alerts.notify.memory_router import Town, outage

PAGE = {"owner": "shop", "level": "page"}
BARE = Policy(owners=(Owner("shop", "#shop", "shop.key"), Owner("pay", "#pay", "pay.key")))


def came_back(town, at=200):
    """Resolved, and bad again."""
    town.opened(found("ab", **PAGE))
    town.at(60)
    town.at(105)
    town.at(at, found("ab", **PAGE))
    return town.at(at + 30, found("ab", **PAGE))


def test_what_comes_back_is_told_and_rings_nobody():
    """The same incident: Slack says so, whoever was rung is not rung again for it."""
    town = Town(BARE)

    assert came_back(town) == ["slack:#shop changed"]
    assert list(town.rings.values()) == [1]
    town.at(300)
    assert town.at(345) == ["slack:#shop resolved"]


def test_what_comes_back_and_stays_rings_once_more():
    """PagerDuty was told that it is over: after 15 minutes without an answer it is told again."""
    town = Town(BARE)
    came_back(town)

    assert town.turn(230 + 899) == []
    assert town.turn(230 + 900) == ["pagerduty:shop.key opened"]
    town.at(1_200)
    assert town.at(1_245) == ["pagerduty:shop.key resolved", "slack:#shop resolved"]
    town.at(1_300, found("ab", **PAGE))
    assert town.at(1_330, found("ab", **PAGE)) == ["slack:#shop changed"]
    assert "pagerduty:shop.key opened" not in town.turn(9_999)
    assert list(town.rings.values()) == [2]


def test_what_somebody_took_on_rings_no_more():
    """Acknowledged after it came back: nobody need be rung."""
    town = Town(BARE)
    came_back(town)
    town.do(300, "acknowledge", found("ab", **PAGE))

    assert town.turn(9_999) == []


@pytest.mark.parametrize("is_remembered", [True, False])
def test_what_was_taken_on_before_it_came_back_rings_no_more(monkeypatch, is_remembered):
    """Within the hour. The mutant forgets who has it, and calls them again."""
    if not is_remembered:
        monkeypatch.setattr("alerts.incidents.life._is_taken_on", lambda *_, **__: False)
    town = Town(BARE)
    town.opened(found("ab", **PAGE))
    town.do(40, "acknowledge", found("ab", **PAGE))
    town.at(60)
    town.at(105)
    town.at(200, found("ab", **PAGE))

    assert town.at(230, found("ab", **PAGE)) == ["slack:#shop changed"]
    assert bool(town.turn(9_999)) is not is_remembered


def test_where_there_is_no_other_way_it_rings_again():
    """An owner with a pager alone: told twice rather than not at all."""
    town = Town(Policy(owners=(Owner("shop", pagerduty_key_file="shop.key"),)))

    assert came_back(town) == ["pagerduty:shop.key opened"]


def test_without_the_rule_it_would_ring_each_time(monkeypatch):
    """The mutant: a flapping job is a page each time."""
    monkeypatch.setattr("alerts.notify.first_notification._may_ring", lambda *_: True)
    town = Town(BARE)
    came_back(town)

    assert list(town.rings.values()) == [2]


def handed_back(town):
    """To pay, and back to shop."""
    upstream = found("zab", owner="pay", level="page", faults={root(name) for name in "zab"})
    town.opened(found("ab", **PAGE))
    town.at(60, upstream)
    faults = {root(name) for name in "yzab"}
    return town.at(120, found("yzab", owner="shop", level="page", faults=faults))


def test_handed_back_is_told_and_rings_nobody_twice():
    """Two were rung: whoever was before hears it in Slack."""
    town = Town(BARE)

    assert handed_back(town) == [
        "pagerduty:pay.key handed_over",
        "slack:#pay handed_over",
        "slack:#shop opened",
    ]
    assert sorted(town.rings.values()) == [1, 1]
    assert town.turn(9_999) == []


def merged(town):
    """Of shop and of pay, one root; its owner is pay, who was rung for the younger."""
    mine, other = found("ab", **PAGE), found("cd", owner="pay", level="page")
    town.opened(mine)
    town.at(40, mine, other)
    town.at(70, mine, other)
    faults = {root(name) for name in "cad"}
    return town.at(120, found("cdab", owner="pay", level="page", faults=faults))


def test_who_was_rung_by_what_was_merged_is_not_rung_again():
    """The alert that rang goes on standing for it, and ends with it."""
    town = Town(BARE)

    assert merged(town) == [
        "pagerduty:pay.key changed",
        "pagerduty:shop.key handed_over",
        "slack:#pay changed",
        "slack:#pay resolved",
        "slack:#shop handed_over",
    ]
    assert sorted(town.rings.values()) == [1, 1]
    town.at(200)
    assert town.at(245) == ["pagerduty:pay.key resolved", "slack:#pay resolved"]


def test_without_that_the_new_owner_would_be_rung_twice(monkeypatch):
    """The mutant."""
    monkeypatch.setattr("alerts.notify.updates._adopt", lambda *_: None)
    town = Town(BARE)
    merged(town)

    assert sorted(town.rings.values()) == [1, 1, 1]


def test_acknowledged_before_anybody_was_told_rings_nobody():
    """Somebody saw it elsewhere: Slack is told that it is there."""
    town = Town(BARE, mode="alertmanager")
    town.opened(found("a", **PAGE))
    town.at(40, found("a", **PAGE), commands=(Command(town.one.id, "acknowledge", "ada"),))

    assert town.turn(30 + 120) == ["slack:#shop opened"]


def test_alertmanager_is_waited_for_two_minutes():
    """Then the service tells by itself."""
    town = Town(BARE, mode="alertmanager")

    assert town.opened(found("a", **PAGE)) == []
    assert town.turn(30 + 119) == []
    assert town.turn(30 + 120) == ["pagerduty:shop.key opened", "slack:#shop opened"]
    assert town.called(200) == []


def test_without_the_rule_an_alertmanager_that_died_tells_nobody(monkeypatch):
    """The mutant."""
    monkeypatch.setattr("alerts.notify.planning.begin", lambda *_: None)
    town = Town(BARE, mode="alertmanager")
    town.opened(found("a", **PAGE))

    assert town.turn(9_999) == []


def test_alertmanagers_call_has_it_told_at_once():
    """What changes from then on is told at once too."""
    town = Town(BARE, mode="alertmanager")
    town.opened(found("a", **PAGE))

    assert town.called(45) == ["pagerduty:shop.key opened", "slack:#shop opened"]
    assert town.at(60, found("a", "lost", **PAGE)) == [
        "pagerduty:shop.key changed",
        "slack:#shop changed",
    ]
    assert town.turn(9_999) == []


def test_behind_an_outage_nothing_that_waits_is_told():
    """It opened just before: it rings when the outage is over and it is still bad."""
    town = Town(BARE, mode="alertmanager")
    bad = found("a", **PAGE)
    town.opened(bad)
    town.at(60, bad, outage())
    town.at(90, bad, outage())

    assert "pagerduty:shop.key opened" not in town.turn(30 + 120)
    town.at(300, bad)
    town.at(345, bad)
    assert "pagerduty:shop.key opened" in town.turn(360)


def test_without_inhibition_it_would_ring_behind_the_outage(monkeypatch):
    """The mutant."""
    monkeypatch.setattr("alerts.notify.context.Scene.is_muted", lambda *_: False)
    town = Town(BARE, mode="alertmanager")
    bad = found("a", **PAGE)
    town.opened(bad)
    town.at(60, bad, outage())
    town.at(90, bad, outage())

    assert "pagerduty:shop.key opened" in town.turn(30 + 120)


def test_an_outage_that_alertmanager_told_of_mutes_as_well():
    """Its own alert on ingestion fires: no dataset's incident is told beside it."""
    town = Town(BARE, mode="alertmanager")
    town.is_alerted = True
    town.opened(found("a", **PAGE))

    assert town.turn(30 + 120) == []
    town.is_alerted = False
    assert town.turn(30 + 130) == ["pagerduty:shop.key opened", "slack:#shop opened"]


def test_an_outage_and_an_access_are_told_whatever_is_out():
    """What is Lineward's own is muted by nothing."""
    town = Town(mode="alertmanager")
    town.is_alerted = True
    town.opened(outage())

    assert town.turn(30 + 120) == ["pagerduty:platform.key opened", "slack:#platform opened"]


def test_a_third_owner_is_told_and_rung_late():
    """Two people at most at once; a third only where nobody took it on."""
    town = Town()
    town.opened(found("ab", **PAGE))
    town.at(60, found("zab", owner="pay", level="page", faults={root(name) for name in "zab"}))
    faults = {root(name) for name in "yzab"}

    said = town.at(120, found("yzab", owner="boss", level="page", faults=faults))

    assert "slack:#boss opened" in said
    assert "pagerduty:boss.key opened" not in said
    assert next(iter(town.tellings.values())).ring_at == (120 + 900) * MICROS
