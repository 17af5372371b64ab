"""Nobody acknowledges a page: the next one hears of it, once."""

import pytest

from alerts.incidents.estate import MICROS
from alerts.notify.escalation import escalate_now
from alerts.notify.notification_plan import Sheet
from lineage.policy.model import EscalationStep, Owner, Policy
from tests.alerts.incidents.stories import found, root
from tests.alerts.notify.memory_router import Town

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
def town():
    """With one page told at second 30."""
    town = Town(POLICY)
    town.opened(found("ab", **PAGE))
    return town


def minutes(count):
    """Since it was told."""
    return 30 + count * 60


def test_each_step_is_taken_once_and_in_its_time(town):
    """Whoever was told before hears to whom it went."""
    assert town.turn(minutes(15) - 1) == []
    assert town.turn(minutes(15)) == sorted([*TO_BOSS, *CHANGED])
    assert town.said("slack:#boss").note == "Escalated from shop: not acknowledged for 15 min."
    assert town.said("slack:#shop").note == "Escalated to boss: not acknowledged for 15 min."
    assert town.turn(minutes(16)) == []
    assert "slack:#incidents opened" in town.turn(minutes(45))
    assert "pagerduty:last.key opened" in town.turn(minutes(60))
    assert town.turn(minutes(999)) == []
    assert [(each.owner, each.step) for each in town.escalated] == [("shop", n) for n in range(3)]


def test_without_a_memory_it_would_be_told_each_second(town, monkeypatch):
    """The mutant."""
    monkeypatch.setattr("alerts.notify.context.Scene.steps", lambda *_: ((0, STEPS[0]),))
    town.turn(minutes(15))

    assert town.turn(minutes(15) + 1) != []


@pytest.mark.parametrize("action", ["acknowledge", "resolve", "suppress"])
def test_it_stops_when_somebody_does_something(town, action):
    """Acknowledged, resolved, suppressed: nobody else need hear of it."""
    town.do(60, action, found("ab", **PAGE), until=90_000)

    assert town.turn(minutes(999)) == []


def test_whom_it_went_to_hears_the_end(town):
    """What was told there is taken back there."""
    town.turn(minutes(15))
    town.at(2_000)

    assert "pagerduty:boss.key resolved" in town.at(2_045)


def test_a_ticket_escalates_to_nobody():
    """It can wait; the digest tells of it each day."""
    town = Town(POLICY)
    town.opened(found("ab", owner="shop"))

    assert town.turn(minutes(999)) == []


def test_with_a_new_owner_it_begins_anew(town):
    """By the new one's steps, from when that one was told."""
    upstream = found("zab", owner="pay", level="page", faults={root(name) for name in "zab"})
    town.turn(minutes(15))
    town.at(minutes(20), upstream)

    assert town.turn(minutes(25) - 1) == []
    assert "slack:#boss opened" in town.turn(minutes(25))
    assert [(each.owner, each.step) for each in town.escalated] == [("shop", 0), ("pay", 0)]


def test_a_step_that_tells_nobody_is_a_gap():
    """It is counted, and not lost among the rest."""
    policy = Policy(owners=(Owner("shop", "#shop", None, (EscalationStep(1, owner="x"),)),))
    town = Town(policy)
    town.opened(found("ab", **PAGE))

    assert town.turn(minutes(1)) == ["slack:#shop changed"]
    assert town.gaps == ["no_way"]


def test_a_person_may_have_the_next_step_taken_now(town):
    """As if its time had come; after the last the platform hears of it, and then nobody is left."""
    (telling,) = town.tellings.values()
    sheet = Sheet(telling, 60 * MICROS)

    assert escalate_now(sheet, town.scene, "ada") == ("slack:#boss", "pagerduty:boss.key")
    assert escalate_now(sheet, town.scene, "ada") == ("slack:#incidents",)
    assert escalate_now(sheet, town.scene, "ada") == ("pagerduty:last.key",)
    assert escalate_now(sheet, town.scene, "ada") == ("slack:#platform",)
    assert escalate_now(sheet, town.scene, "ada") == ()
    assert "asked for by ada" in sheet.letters[0].message.note
