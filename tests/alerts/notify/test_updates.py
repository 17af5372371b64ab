"""Messages of each change of an incident."""

import msgspec
import pytest

from alerts.incidents.steps import IncidentEvent
from alerts.notify.sentences import describe_step
from tests.alerts.incidents.scenarios import make_fault, root
from tests.alerts.notify.memory_router import POLICY, MemoryRouter

PAGE = {"owner": "shop", "level": "page"}
PAGER, SLACK = "pagerduty:shop.key {}", "slack:#shop {}"


def both(kind):
    """Return a line for each channel of a page."""
    return [PAGER.format(kind), SLACK.format(kind)]


@pytest.fixture
def router():
    """Return a router with one page sent, of a and b."""
    router = MemoryRouter()
    router.opened(make_fault("ab", **PAGE))
    return router


def test_end_is_sent_where_the_beginning_was(router):
    """Send it with the reason."""
    router.at(60)

    assert router.at(105) == both("resolved")
    assert router.last_message("slack:#shop").note == "The fault has been gone for 45 s."


def test_message_has_the_zone_of_the_policy():
    """Keep it for the button that suppresses until the morning."""
    router = MemoryRouter(msgspec.structs.replace(POLICY, time_zone="Europe/Berlin"))
    router.opened(make_fault("ab", **PAGE))

    assert router.last_message("slack:#shop").time_zone == "Europe/Berlin"


def test_incident_never_sent_is_never_resolved():
    """Send nothing: it recovered before Alertmanager called."""
    router = MemoryRouter(mode="alertmanager")
    assert router.opened(make_fault("a", **PAGE)) == []
    router.at(40)

    assert router.at(90) == []
    assert router.route_due(9_999) == []


@pytest.mark.parametrize(
    ("action", "kinds"),
    [
        ("acknowledge", both("acknowledged")),
        ("suppress", [PAGER.format("acknowledged"), SLACK.format("changed")]),
        ("resolve", both("resolved")),
    ],
)
def test_action_is_sent_with_the_person(router, action, kinds):
    """Acknowledge in PagerDuty what is suppressed, or it goes on paging."""
    assert router.do(60, action, make_fault("ab", **PAGE), until=900) == kinds
    assert "by ada" in router.last_message("slack:#shop").note


def test_suppressed_incident_sends_its_state_at_the_end(router):
    """Send nothing while members change and it worsens."""
    router.do(60, "suppress", make_fault("ab", **PAGE), until=900)

    assert router.at(500, make_fault("abc", "lost", **PAGE)) == []
    assert router.route_due(899) == []
    assert router.at(900, make_fault("abc", "lost", **PAGE)) == both("changed")
    assert sum(router.page_counts.values()) == 1


def test_owner_changed_while_suppressed_is_notified_afterwards(router):
    """Hand it over when the suppression ends."""
    upstream = make_fault("zab", owner="pay", level="page", faults={root(name) for name in "zab"})
    router.do(60, "suppress", make_fault("ab", **PAGE), until=900)

    assert router.at(100, upstream) == []
    assert router.at(900, upstream) == [
        "pagerduty:pay.key opened",
        "pagerduty:shop.key handed_over",
        "slack:#pay opened",
        "slack:#shop handed_over",
    ]


def test_all_changes_of_a_step_are_one_message(router):
    """Use the newest revision."""
    assert router.at(60, make_fault("abc", "lost", **PAGE)) == both("changed")

    message = router.last_message("slack:#shop")
    assert message.note == "The same fault, of another kind now. 1 more dataset bad."
    assert message.revision == router.one.revision


def test_changes_of_members_are_sent_every_five_minutes(router):
    """Send the newest state then."""
    assert router.at(60, make_fault("abc", **PAGE)) == []
    assert router.at(90, make_fault("abcd", **PAGE)) == []
    assert router.route_due(329) == []
    assert router.route_due(330) == both("changed")
    assert router.route_due(331) == []


def test_without_the_pause_each_member_is_a_reply(router, monkeypatch):
    """Run the mutant: send each change of members at once."""
    monkeypatch.setattr("alerts.notify.updates.MEMBER_UPDATE_SECONDS", 0)

    assert router.at(60, make_fault("abc", **PAGE)) == both("changed")


def test_ticket_that_becomes_a_page_pages_now():
    """Send the change to Slack and to the webhook."""
    router = MemoryRouter()
    router.opened(make_fault("ab", owner="shop"))

    assert router.at(60, make_fault("ab", **PAGE)) == [
        PAGER.format("opened"),
        SLACK.format("changed"),
        "webhook:tickets changed",
    ]
    assert router.last_message("slack:#shop").severity == "page"


def test_acknowledged_ticket_that_becomes_a_page_pages():
    """Page for the late dataset though Ann acknowledged the failed run."""
    router = MemoryRouter()
    router.opened(make_fault("a", owner="shop"))
    router.do(40, "acknowledge", make_fault("a", owner="shop"))

    assert PAGER.format("opened") in router.at(60, make_fault("a", **PAGE))
    assert "pagerduty:boss.key opened" in router.route_due(60 + 15 * 60)


def test_resolved_ticket_that_becomes_a_page_pages():
    """Page for the late dataset though Ann resolved the failed run."""
    router = MemoryRouter()
    router.opened(make_fault("a", owner="shop"))
    router.do(40, "resolve", make_fault("a", owner="shop"))

    assert PAGER.format("opened") in router.opened(make_fault("a", **PAGE), at=60)


def test_frozen_and_thawed_notify_nobody(router):
    """Send what changes beside an outage, which notifies by itself."""
    assert router.at(60, unknown="ab") == []
    assert router.at(90, make_fault("ab", **PAGE)) == []
    router.at(120, unknown="ab")
    changed = make_fault("abc", faults={root(name) for name in "abc"}, **PAGE)
    router.at(900, changed)
    assert "known again" not in router.last_message("slack:#shop").note


def test_new_owner_is_paged_and_first_alert_resolved(router):
    """Keep the id when a root further upstream appears."""
    upstream = make_fault("zab", owner="pay", level="page", faults={root(name) for name in "zab"})

    assert router.at(60, upstream) == [
        "pagerduty:pay.key opened",
        "pagerduty:shop.key handed_over",
        "slack:#pay opened",
        "slack:#shop handed_over",
    ]
    assert router.last_message("slack:#shop").note.startswith(
        "Handed over to pay: A fault further upstream"
    )
    assert len({each.message.incident_id for each in router.post}) == 1
    assert router.at(600) == []
    assert router.at(645) == ["pagerduty:pay.key resolved", "slack:#pay resolved"]


def test_channel_of_both_owners_stays_open():
    """Notify it once, and of no end."""
    router = MemoryRouter()
    pay, shop = (router.policy.owners[at] for at in (1, 0))
    router.policy = type(router.policy)(owners=(shop, type(pay)("pay", "#shop", "pay.key")))
    router.opened(make_fault("ab", **PAGE))
    upstream = make_fault("zab", owner="pay", level="page", faults={root(name) for name in "zab"})

    assert router.at(60, upstream) == [
        "pagerduty:pay.key opened",
        "pagerduty:shop.key handed_over",
        "slack:#shop changed",
    ]


def test_merged_incident_ends_with_a_note():
    """Keep the older of two with one root."""
    router = MemoryRouter()
    router.opened(make_fault("ab", **PAGE))
    router.at(40, make_fault("ab", **PAGE), make_fault("cd", **PAGE))
    router.at(70, make_fault("ab", **PAGE), make_fault("cd", **PAGE))
    one = make_fault("zabcd", owner="shop", level="page", faults={root(name) for name in "zac"})

    sent = router.at(120, one)

    assert sent == sorted([*both("changed"), *both("resolved")])
    over = [each.message for each in router.post if each.message.kind == "resolved"]
    assert {each.note for each in over} == {
        f"Merged into {router.one.id}: It has the same root as an older incident."
    }


def test_note_names_the_person():
    """Keep a person's words; name nobody for what happened by itself."""
    by_ada = IncidentEvent("i", 2, 0, "resolved", "fixed the key", by="ada")
    left = IncidentEvent("i", 1, 0, "left", "good again", members=(1, 2))

    assert (
        describe_step((left, by_ada)) == "2 datasets no longer bad. Resolved by ada: fixed the key."
    )
