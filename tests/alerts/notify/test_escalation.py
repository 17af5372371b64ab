"""Nobody acknowledges a page: the next one hears of it, once."""

import pytest

from alerts.incidents.estate import MICROS
from alerts.notify.escalation import escalate_now
from alerts.notify.notification_plan import NotificationPlan
from lineage.policy.model import EscalationStep, Owner, Policy
from tests.alerts.incidents.stories import found, root
from tests.alerts.notify.memory_router import MemoryRouter

PAGE = {"owner": "shop", "level": "page"}
STEPS = (
    EscalationStep(15, owner="boss"),
    EscalationStep(45, slack="#incidents"),
    EscalationStep(60, pagerduty_key_file="last.key"),
)
POLICY = Policy(
    owners=(
        Owner("shop", "#shop", "shop.key", STEPS),
        Owner("pay", "#pay", "pay.key", (EscalationStep(5, owner="boss"),)),
        Owner("boss", "#boss", "boss.key"),
        Owner("platform", "#platform"),
    )
)
TO_BOSS = ["pagerduty:boss.key opened", "slack:#boss opened"]
CHANGED = ["pagerduty:shop.key changed", "slack:#shop changed"]


@pytest.fixture
def router():
    """With one page told at second 30."""
    router = MemoryRouter(POLICY)
    router.opened(found("ab", **PAGE))
    return router


def minutes(count):
    """Since it was told."""
    return 30 + count * 60


def test_each_step_is_taken_once_and_in_its_time(router):
    """Whoever was told before hears to whom it went."""
    assert router.route_due(minutes(15) - 1) == []
    assert router.route_due(minutes(15)) == sorted([*TO_BOSS, *CHANGED])
    assert (
        router.last_message("slack:#boss").note
        == "Escalated from shop: not acknowledged for 15 min."
    )
    assert (
        router.last_message("slack:#shop").note == "Escalated to boss: not acknowledged for 15 min."
    )
    assert router.route_due(minutes(16)) == []
    assert "slack:#incidents opened" in router.route_due(minutes(45))
    assert "pagerduty:last.key opened" in router.route_due(minutes(60))
    assert router.route_due(minutes(999)) == []
    assert [(each.owner, each.step) for each in router.taken_steps] == [
        ("shop", n) for n in range(3)
    ]


def test_without_a_memory_it_would_be_told_each_second(router, monkeypatch):
    """The mutant."""
    monkeypatch.setattr("alerts.notify.context.RoutingContext.steps", lambda *_: ((0, STEPS[0]),))
    router.route_due(minutes(15))

    assert router.route_due(minutes(15) + 1) != []


@pytest.mark.parametrize("action", ["acknowledge", "resolve", "suppress"])
def test_it_stops_when_somebody_does_something(router, action):
    """Acknowledged, resolved, suppressed: nobody else need hear of it."""
    router.do(60, action, found("ab", **PAGE), until=90_000)

    assert router.route_due(minutes(999)) == []


def test_whom_it_went_to_hears_the_end(router):
    """What was told there is taken back there."""
    router.route_due(minutes(15))
    router.at(2_000)

    assert "pagerduty:boss.key resolved" in router.at(2_045)


def test_a_ticket_escalates_to_nobody():
    """It can wait; the digest tells of it each day."""
    router = MemoryRouter(POLICY)
    router.opened(found("ab", owner="shop"))

    assert router.route_due(minutes(999)) == []


def test_with_a_new_owner_it_begins_anew(router):
    """By the new one's steps, from when that one was told."""
    upstream = found("zab", owner="pay", level="page", faults={root(name) for name in "zab"})
    router.route_due(minutes(15))
    router.at(minutes(20), upstream)

    assert router.route_due(minutes(25) - 1) == []
    assert "slack:#boss opened" in router.route_due(minutes(25))
    assert [(each.owner, each.step) for each in router.taken_steps] == [("shop", 0), ("pay", 0)]


def test_a_step_that_tells_nobody_is_a_gap():
    """It is counted, and not lost among the rest."""
    policy = Policy(owners=(Owner("shop", "#shop", None, (EscalationStep(1, owner="x"),)),))
    router = MemoryRouter(policy)
    router.opened(found("ab", **PAGE))

    assert router.route_due(minutes(1)) == ["slack:#shop changed"]
    assert router.gaps == ["no_way"]


def test_a_person_may_have_the_next_step_taken_now(router):
    """As if its time had come; after the last the platform hears of it, and then nobody is left."""
    (state,) = router.states.values()
    plan = NotificationPlan(state, 60 * MICROS)

    assert escalate_now(plan, router.context, "ada") == ("slack:#boss", "pagerduty:boss.key")
    assert escalate_now(plan, router.context, "ada") == ("slack:#incidents",)
    assert escalate_now(plan, router.context, "ada") == ("pagerduty:last.key",)
    assert escalate_now(plan, router.context, "ada") == ("slack:#platform",)
    assert escalate_now(plan, router.context, "ada") == ()
    assert "requested by ada" in plan.notifications[0].message.note
