"""Pages to owners for one fault: at once, or later and only if nobody acknowledged."""

import pytest

from alerts.incidents.detected_fault import service_fault
from alerts.incidents.steps import IncidentCommand
from alerts.own_parts import EVENTS_ROOT, ROLES
from lineage.policy.model import Owner, Policy
from lineage.process.clock import SECOND_MICROS
from lineage.states import UNAUTHORIZED_ACCESS
from tests.alerts.incidents.scenarios import make_fault, root
from tests.alerts.notify.memory_router import MemoryRouter, outage

PAGE = {"owner": "shop", "level": "page"}
BARE = Policy(owners=(Owner("shop", "#shop", "shop.key"), Owner("pay", "#pay", "pay.key")))


def come_back(router, at=200):
    """Resolve it, and let it become bad again."""
    router.opened(make_fault("ab", **PAGE))
    router.at(60)
    router.at(105)
    router.at(at, make_fault("ab", **PAGE))
    return router.at(at + 30, make_fault("ab", **PAGE))


def test_fault_that_comes_back_pages_nobody():
    """Notify in Slack of the same incident."""
    router = MemoryRouter(BARE)

    assert come_back(router) == ["slack:#shop changed"]
    assert list(router.page_counts.values()) == [1]
    router.at(300)
    assert router.at(345) == ["slack:#shop resolved"]


def test_fault_that_comes_back_and_stays_pages_once_more():
    """Page after 15 minutes without an acknowledgement: PagerDuty has it resolved."""
    router = MemoryRouter(BARE)
    come_back(router)

    assert router.route_due(230 + 899) == []
    assert router.route_due(230 + 900) == ["pagerduty:shop.key opened"]
    router.at(1_200)
    assert router.at(1_245) == ["pagerduty:shop.key resolved", "slack:#shop resolved"]
    router.at(1_300, make_fault("ab", **PAGE))
    assert router.at(1_330, make_fault("ab", **PAGE)) == ["slack:#shop changed"]
    assert "pagerduty:shop.key opened" not in router.route_due(9_999)
    assert list(router.page_counts.values()) == [2]


def test_acknowledged_fault_does_not_page_again():
    """Acknowledge it after it came back."""
    router = MemoryRouter(BARE)
    come_back(router)
    router.do(300, "acknowledge", make_fault("ab", **PAGE))

    assert router.route_due(9_999) == []


@pytest.mark.parametrize("is_remembered", [True, False])
def test_fault_acknowledged_before_it_came_back_does_not_page(monkeypatch, is_remembered):
    """Remember it for four hours; the mutant forgets it and pages."""
    if not is_remembered:
        monkeypatch.setattr("alerts.incidents.lifecycle._is_acknowledged", lambda *_, **__: False)
    router = MemoryRouter(BARE)
    router.opened(make_fault("ab", **PAGE))
    router.do(40, "acknowledge", make_fault("ab", **PAGE))
    router.at(60)
    router.at(105)
    router.at(200, make_fault("ab", **PAGE))

    assert router.at(230, make_fault("ab", **PAGE)) == ["slack:#shop changed"]
    assert bool(router.route_due(9_999)) is not is_remembered


def test_owner_with_pagerduty_only_is_paged_again():
    """Page twice rather than not at all."""
    router = MemoryRouter(Policy(owners=(Owner("shop", pagerduty_key_file="shop.key"),)))

    assert come_back(router) == ["pagerduty:shop.key opened"]


def test_without_the_rule_it_pages_each_time(monkeypatch):
    """Run the mutant: page each time a job flaps."""
    monkeypatch.setattr("alerts.notify.first_notification._can_page_again", lambda *_: True)
    router = MemoryRouter(BARE)
    come_back(router)

    assert list(router.page_counts.values()) == [2]


def hand_back(router):
    """Hand over to pay, and back to shop."""
    upstream = make_fault("zab", owner="pay", level="page", faults={root(name) for name in "zab"})
    router.opened(make_fault("ab", **PAGE))
    router.at(60, upstream)
    faults = {root(name) for name in "yzab"}
    return router.at(120, make_fault("yzab", owner="shop", level="page", faults=faults))


def test_handed_back_incident_notifies_without_paging_again():
    """Notify in Slack without paging an owner who was paged before."""
    router = MemoryRouter(BARE)

    assert hand_back(router) == [
        "pagerduty:pay.key handed_over",
        "slack:#pay handed_over",
        "slack:#shop opened",
    ]
    assert sorted(router.page_counts.values()) == [1, 1]
    assert router.route_due(9_999) == []


def merge(router):
    """Merge incidents of shop and of pay; the owner is pay, who was paged for the younger."""
    mine, other = make_fault("ab", **PAGE), make_fault("cd", owner="pay", level="page")
    router.opened(mine)
    router.at(40, mine, other)
    router.at(70, mine, other)
    faults = {root(name) for name in "cad"}
    return router.at(120, make_fault("cdab", owner="pay", level="page", faults=faults))


def test_owner_paged_for_a_merged_incident_is_not_paged_again():
    """Keep the open alert, and resolve it with the incident."""
    router = MemoryRouter(BARE)

    assert merge(router) == [
        "pagerduty:pay.key changed",
        "pagerduty:shop.key handed_over",
        "slack:#pay changed",
        "slack:#pay resolved",
        "slack:#shop handed_over",
    ]
    assert sorted(router.page_counts.values()) == [1, 1]
    router.at(200)
    assert router.at(245) == ["pagerduty:pay.key resolved", "slack:#pay resolved"]


def test_without_takeover_the_new_owner_is_paged_twice(monkeypatch):
    """Run the mutant: adopt no pages of the merged incident."""
    monkeypatch.setattr("alerts.notify.updates._adopt_pages", lambda *_: None)
    router = MemoryRouter(BARE)
    merge(router)

    assert sorted(router.page_counts.values()) == [1, 1, 1]


def test_incident_acknowledged_before_its_notification_pages_nobody():
    """Notify in Slack."""
    router = MemoryRouter(BARE, mode="alertmanager")
    router.opened(make_fault("a", **PAGE))
    router.at(
        40,
        make_fault("a", **PAGE),
        commands=(IncidentCommand(router.one.id, "acknowledge", "ada"),),
    )

    assert router.route_due(30 + 120) == ["slack:#shop opened"]


def test_incident_waits_two_minutes_for_alertmanager():
    """Notify without it afterwards."""
    router = MemoryRouter(BARE, mode="alertmanager")

    assert router.opened(make_fault("a", **PAGE)) == []
    assert router.route_due(30 + 119) == []
    assert router.route_due(30 + 120) == ["pagerduty:shop.key opened", "slack:#shop opened"]
    assert router.confirm(200) == []


def test_without_the_rule_a_dead_alertmanager_notifies_nobody(monkeypatch):
    """Run the mutant: never stop waiting for Alertmanager."""
    monkeypatch.setattr("alerts.notify.planning.start_or_hold", lambda *_: None)
    router = MemoryRouter(BARE, mode="alertmanager")
    router.opened(make_fault("a", **PAGE))

    assert router.route_due(9_999) == []


def test_post_of_alertmanager_notifies_at_once():
    """Notify of later changes at once too."""
    router = MemoryRouter(BARE, mode="alertmanager")
    router.opened(make_fault("a", **PAGE))

    assert router.confirm(45) == ["pagerduty:shop.key opened", "slack:#shop opened"]
    assert router.at(60, make_fault("a", "lost", **PAGE)) == [
        "pagerduty:shop.key changed",
        "slack:#shop changed",
    ]
    assert router.route_due(9_999) == []


def test_waiting_incident_is_muted_by_an_outage():
    """Page when the outage is over and it is still bad."""
    router = MemoryRouter(BARE, mode="alertmanager")
    bad = make_fault("a", **PAGE)
    router.opened(bad)
    router.at(60, bad, outage())
    router.at(90, bad, outage())

    assert "pagerduty:shop.key opened" not in router.route_due(30 + 120)
    router.at(300, bad)
    router.at(345, bad)
    assert "pagerduty:shop.key opened" in router.route_due(360)


def test_without_inhibition_it_pages_during_the_outage(monkeypatch):
    """Run the mutant: mute nothing."""
    monkeypatch.setattr("alerts.notify.context.RoutingContext.is_muted", lambda *_: False)
    router = MemoryRouter(BARE, mode="alertmanager")
    bad = make_fault("a", **PAGE)
    router.opened(bad)
    router.at(60, bad, outage())
    router.at(90, bad, outage())

    assert "pagerduty:shop.key opened" in router.route_due(30 + 120)


def test_outage_reported_by_alertmanager_mutes():
    """Notify of no dataset's incident while the alert on ingestion fires."""
    router = MemoryRouter(BARE, mode="alertmanager")
    router.is_alerted = True
    router.opened(make_fault("a", **PAGE))

    assert router.route_due(30 + 120) == []
    router.is_alerted = False
    assert router.route_due(30 + 130) == ["pagerduty:shop.key opened", "slack:#shop opened"]


@pytest.mark.parametrize(
    "own",
    [
        *map(outage, ROLES),
        service_fault("access", UNAUTHORIZED_ACCESS.name, 0),
        service_fault("set_aside", EVENTS_ROOT, 0),
    ],
    ids=lambda each: each.name,
)
def test_no_incident_about_lineward_itself_is_muted(own):
    """Notify while an alert on ingestion fires, of each role, of access and of events set aside."""
    router = MemoryRouter(mode="alertmanager")
    router.is_alerted = True
    router.opened(own)

    assert "slack:#platform opened" in router.route_due(30 + 120)


def test_third_owner_is_notified_and_paged_late():
    """Page a third owner only while nobody acknowledged."""
    router = MemoryRouter()
    router.opened(make_fault("ab", **PAGE))
    router.at(
        60, make_fault("zab", owner="pay", level="page", faults={root(name) for name in "zab"})
    )
    faults = {root(name) for name in "yzab"}

    sent = router.at(120, make_fault("yzab", owner="boss", level="page", faults=faults))

    assert "slack:#boss opened" in sent
    assert "pagerduty:boss.key opened" not in sent
    assert next(iter(router.states.values())).repage_at == (120 + 900) * SECOND_MICROS
