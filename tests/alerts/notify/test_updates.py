"""What each change of an incident makes people hear."""

import pytest

from alerts.incidents.steps import Event
from alerts.notify.change_text import note_of
from tests.alerts.incidents.stories import found, root
from tests.alerts.notify.memory_router import Town

PAGE = {"owner": "shop", "level": "page"}
RUNG, SAID = "pagerduty:shop.key {}", "slack:#shop {}"


def both(kind):
    """To each of a page's channels."""
    return [RUNG.format(kind), SAID.format(kind)]


@pytest.fixture
def town():
    """With one page told, of a and b."""
    town = Town()
    town.opened(found("ab", **PAGE))
    return town


def test_an_end_is_heard_where_the_beginning_was(town):
    """By both ways, with the reason."""
    town.at(60)

    assert town.at(105) == both("resolved")
    assert town.said("slack:#shop").note == "Not found bad for 45 s."


def test_what_was_never_told_is_never_resolved():
    """It was good again before Alertmanager called."""
    town = Town(mode="alertmanager")
    assert town.opened(found("a", **PAGE)) == []
    town.at(40)

    assert town.at(90) == []
    assert town.turn(9_999) == []


@pytest.mark.parametrize(
    ("action", "kinds"),
    [
        ("acknowledge", both("acknowledged")),
        ("suppress", [RUNG.format("acknowledged"), SAID.format("changed")]),
        ("resolve", both("resolved")),
    ],
)
def test_what_people_do_is_told_with_their_name(town, action, kinds):
    """Suppressed is quiet in PagerDuty too, which else goes on calling."""
    assert town.do(60, action, found("ab", **PAGE), until=900) == kinds
    assert "by ada" in town.said("slack:#shop").note


def test_while_suppressed_nothing_is_said_and_afterwards_how_it_is(town):
    """Members come, it becomes worse: quiet until the end."""
    town.do(60, "suppress", found("ab", **PAGE), until=900)

    assert town.at(500, found("abc", "lost", **PAGE)) == []
    assert town.turn(899) == []
    assert town.at(900, found("abc", "lost", **PAGE)) == both("changed")
    assert sum(town.rings.values()) == 1


def test_what_went_to_another_owner_meanwhile_is_told_afterwards(town):
    """Handed over while suppressed: the new owner hears of it when that ends."""
    upstream = found("zab", owner="pay", level="page", faults={root(name) for name in "zab"})
    town.do(60, "suppress", found("ab", **PAGE), until=900)

    assert town.at(100, upstream) == []
    assert town.at(900, upstream) == [
        "pagerduty:pay.key opened",
        "pagerduty:shop.key handed_over",
        "slack:#pay opened",
        "slack:#shop handed_over",
    ]


def test_all_of_a_step_is_one_message(town):
    """Of a kind, of a member, of a cause: one, with all of it, at the newest revision."""
    assert town.at(60, found("abc", "lost", **PAGE)) == both("changed")

    message = town.said("slack:#shop")
    assert message.note == "The same fault, gone further. 1 more affected."
    assert message.revision == town.one.revision


def test_members_that_come_and_go_are_told_every_five_minutes(town):
    """A thread stays readable; the last state is told when the time is up."""
    assert town.at(60, found("abc", **PAGE)) == []
    assert town.at(90, found("abcd", **PAGE)) == []
    assert town.turn(329) == []
    assert town.turn(330) == both("changed")
    assert town.turn(331) == []


def test_without_that_pause_each_member_is_a_reply(town, monkeypatch):
    """The mutant."""
    monkeypatch.setattr("alerts.notify.updates.JOINED_SECONDS", 0)

    assert town.at(60, found("abc", **PAGE)) == both("changed")


def test_a_ticket_that_becomes_a_page_rings_now():
    """Slack and the webhook hear of the change."""
    town = Town()
    town.opened(found("ab", owner="shop"))

    assert town.at(60, found("ab", **PAGE)) == [
        RUNG.format("opened"),
        SAID.format("changed"),
        "webhook:tickets changed",
    ]
    assert town.said("slack:#shop").severity == "page"


def test_an_acknowledged_ticket_that_becomes_a_page_is_paged():
    """Ann acknowledged a failed run; the dataset is late now."""
    town = Town()
    town.opened(found("a", owner="shop"))
    town.do(40, "acknowledge", found("a", owner="shop"))

    assert RUNG.format("opened") in town.at(60, found("a", **PAGE))
    assert "pagerduty:boss.key opened" in town.turn(60 + 15 * 60)


def test_a_resolved_ticket_that_becomes_a_page_is_paged():
    """Ann resolved a failed run, and nothing wrote the dataset; the dataset is late now."""
    town = Town()
    town.opened(found("a", owner="shop"))
    town.do(40, "resolve", found("a", owner="shop"))

    assert RUNG.format("opened") in town.opened(found("a", **PAGE), at=60)


def test_frozen_and_thawed_notify_nobody(town):
    """Send what changes beside an outage, which notifies by itself."""
    assert town.at(60, unknown="ab") == []
    assert town.at(90, found("ab", **PAGE)) == []
    town.at(120, unknown="ab")
    changed = found("abc", faults={root(name) for name in "abc"}, **PAGE)
    town.at(900, changed)
    assert "known again" not in town.said("slack:#shop").note


def test_another_owner_is_rung_and_the_first_ones_alert_ends(town):
    """A root further upstream shows: same id, the first one's alert is resolved with a word."""
    upstream = found("zab", owner="pay", level="page", faults={root(name) for name in "zab"})

    assert town.at(60, upstream) == [
        "pagerduty:pay.key opened",
        "pagerduty:shop.key handed_over",
        "slack:#pay opened",
        "slack:#shop handed_over",
    ]
    assert town.said("slack:#shop").note.startswith("Handed over to pay: A fault further upstream")
    assert len({each.message.incident_id for each in town.post}) == 1
    assert town.at(600) == []
    assert town.at(645) == ["pagerduty:pay.key resolved", "slack:#pay resolved"]


def test_a_channel_of_both_owners_goes_on():
    """It is not told twice, nor of an end."""
    town = Town()
    pay, shop = (town.policy.owners[at] for at in (1, 0))
    town.policy = type(town.policy)(owners=(shop, type(pay)("pay", "#shop", "pay.key")))
    town.opened(found("ab", **PAGE))
    upstream = found("zab", owner="pay", level="page", faults={root(name) for name in "zab"})

    assert town.at(60, upstream) == [
        "pagerduty:pay.key opened",
        "pagerduty:shop.key handed_over",
        "slack:#shop changed",
    ]


def test_what_is_merged_ends_with_a_note_and_the_older_goes_on():
    """Two of one owner have one root."""
    town = Town()
    town.opened(found("ab", **PAGE))
    town.at(40, found("ab", **PAGE), found("cd", **PAGE))
    town.at(70, found("ab", **PAGE), found("cd", **PAGE))
    one = found("zabcd", owner="shop", level="page", faults={root(name) for name in "zac"})

    said = town.at(120, one)

    assert said == sorted([*both("changed"), *both("resolved")])
    over = [each.message for each in town.post if each.message.kind == "resolved"]
    assert {each.note for each in over} == {
        f"Merged into {town.one.id}: It has the same root as an older one."
    }


def test_a_note_says_who_did_it():
    """A person's words stand as they are; what happened by itself has no name."""
    by_ada = Event("i", 2, 0, "resolved", "fixed the key", by="ada")
    left = Event("i", 1, 0, "left", "good again", members=(1, 2))

    assert note_of((left, by_ada)) == "2 no longer affected. Resolved by ada: fixed the key."
