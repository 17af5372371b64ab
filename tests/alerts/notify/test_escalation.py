"""Escalation: the next step is taken once while a page is unacknowledged."""

import pytest

from alerts.notify.escalation import escalate_now
from alerts.notify.notification_plan import NotificationPlan
from lineage.policy.model import EscalationStep, Owner, Policy
from lineage.process.clock import SECOND_MICROS
from tests.alerts.incidents.scenarios import make_fault, root
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
        Owner("platform", "#platform", "platform.key"),
    )
)
TO_BOSS = ["pagerduty:boss.key opened", "slack:#boss opened"]
CHANGED = ["pagerduty:shop.key changed", "slack:#shop changed"]


@pytest.fixture
def router():
    """Return a router with one page sent at second 30."""
    router = MemoryRouter(POLICY)
    router.opened(make_fault("ab", **PAGE))
    return router


def minutes(count):
    """Return the second of a minute after the notification."""
    return 30 + count * 60


def test_step_is_taken_once_when_it_is_due(router):
    """Notify those before of whom it was escalated to."""
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


def test_without_taken_steps_it_escalates_each_second(router, monkeypatch):
    """Run the mutant: forget the steps that were taken."""
    monkeypatch.setattr("alerts.notify.context.RoutingContext.steps", lambda *_: ((0, STEPS[0]),))
    router.route_due(minutes(15))

    assert router.route_due(minutes(15) + 1) != []


@pytest.mark.parametrize("action", ["acknowledge", "resolve", "suppress"])
def test_escalation_stops_at_an_action(router, action):
    """Stop when it is acknowledged, resolved or suppressed."""
    router.do(60, action, make_fault("ab", **PAGE), until=90_000)

    assert router.route_due(minutes(999)) == []


def test_escalated_owner_is_notified_of_the_end(router):
    """Resolve it there too."""
    router.route_due(minutes(15))
    router.at(2_000)

    assert "pagerduty:boss.key resolved" in router.at(2_045)


def test_ticket_does_not_escalate():
    """Leave it to the digest."""
    router = MemoryRouter(POLICY)
    router.opened(make_fault("ab", owner="shop"))

    assert router.route_due(minutes(999)) == []


def test_escalation_starts_again_with_a_new_owner(router):
    """Count the new owner's steps from its notification."""
    upstream = make_fault("zab", owner="pay", level="page", faults={root(name) for name in "zab"})
    router.route_due(minutes(15))
    router.at(minutes(20), upstream)

    assert router.route_due(minutes(25) - 1) == []
    assert "slack:#boss opened" in router.route_due(minutes(25))
    assert [(each.owner, each.step) for each in router.taken_steps] == [("shop", 0), ("pay", 0)]


def test_step_without_a_channel_is_a_gap():
    """Count it."""
    policy = Policy(owners=(Owner("shop", "#shop", None, (EscalationStep(1, owner="x"),)),))
    router = MemoryRouter(policy)
    router.opened(make_fault("ab", **PAGE))

    assert router.route_due(minutes(1)) == ["slack:#shop changed"]
    assert router.without_recipient == ["no_way"]
    note = router.last_message("slack:#shop").note
    assert note == (
        "Escalation to x failed, because the policy has no channel: not acknowledged for 1 min."
    )


def test_a_request_takes_only_steps_with_a_channel():
    """Reject a request that would notify nobody: the person must call somebody."""
    steps = (EscalationStep(1, owner="x"), EscalationStep(2, slack="#incidents"))
    router = MemoryRouter(Policy(owners=(Owner("shop", "#shop", None, steps),)))
    router.opened(make_fault("ab", **PAGE))

    assert "slack:#incidents opened" in router.escalate(60)
    (state,) = router.states.values()
    assert not escalate_now(NotificationPlan(state, 70 * SECOND_MICROS), router.context, "ada")
    assert router.without_recipient == []


def test_next_step_is_taken_on_request(router):
    """Notify the platform owner after the last step, and then nobody."""
    (state,) = router.states.values()
    plan = NotificationPlan(state, 60 * SECOND_MICROS)

    for channels in (
        ("slack:#boss", "pagerduty:boss.key"),
        ("slack:#incidents",),
        ("pagerduty:last.key",),
        ("slack:#platform", "pagerduty:platform.key"),
    ):
        assert escalate_now(plan, router.context, "ada")
        assert plan.taken_steps[-1].channels == channels
    assert not escalate_now(plan, router.context, "ada")
    assert "requested by ada" in plan.notifications[0].message.note


@pytest.mark.parametrize("action", [None, "acknowledge"])
def test_request_pages_each_step(router, action):
    """Page every step and the platform owner, whether or not a person acknowledged before."""
    if action is not None:
        router.do(60, action, make_fault("ab", **PAGE))

    paged = [
        [each for each in router.escalate(second) if each.endswith("opened")]
        for second in range(70, 110, 10)
    ]

    assert paged == [
        TO_BOSS,
        ["slack:#incidents opened"],
        ["pagerduty:last.key opened"],
        ["pagerduty:platform.key opened", "slack:#platform opened"],
    ]


def test_request_pages_a_former_owner_again():
    """Page an owner whose alert ended when the incident was handed over."""
    policy = Policy(owners=(Owner("shop", "#shop", "shop.key", STEPS), *POLICY.owners[2:]))
    router = MemoryRouter(policy)
    router.opened(make_fault("ab", owner="boss", level="page"))
    upstream = make_fault("zab", **PAGE, faults={root(name) for name in "zab"})
    assert "pagerduty:boss.key handed_over" in router.at(60, upstream)

    assert set(TO_BOSS) <= set(router.escalate(70))


def test_request_notifies_an_open_alert_of_the_step_without_paging():
    """Send no second alert to a person whose alert is still open."""
    policy = Policy(
        owners=(Owner("boss", "#boss", "boss.key", (EscalationStep(15, owner="boss"),)),)
    )
    router = MemoryRouter(policy)
    router.opened(make_fault("ab", owner="boss", level="page"))

    assert router.escalate(60) == ["pagerduty:boss.key changed", "slack:#boss changed"]
    assert list(router.page_counts.values()) == [1]
