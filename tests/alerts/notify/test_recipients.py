"""Recipients of a fault and their channels."""

import pytest

from alerts.incidents.lifecycle import advance
from alerts.incidents.steps import StepInput
from alerts.notify.incident_summary import OwnerImpact
from alerts.notify.message import Impacted
from alerts.notify.planning import plan_step
from alerts.notify.recipients import recipient_of
from lineage.policy.model import Owner, Policy
from lineage.process.clock import SECOND_MICROS
from tests.alerts.incidents.scenarios import make_fault
from tests.alerts.notify.memory_router import SETTINGS, MemoryRouter, outage, theirs


def test_page_goes_to_pagerduty_and_slack_of_its_owner():
    """Notify the root's owner and nobody else."""
    sent = MemoryRouter().opened(make_fault("ab", owner="shop", level="page"))

    assert sent == ["pagerduty:shop.key opened", "slack:#shop opened"]


def test_ticket_pages_nobody():
    """Send to Slack and to the webhook."""
    assert MemoryRouter().opened(make_fault("ab", owner="shop")) == [
        "slack:#shop opened",
        "webhook:tickets opened",
    ]


def test_ticket_without_a_webhook_is_in_slack_only():
    """Send nothing to a channel that is not configured."""
    assert MemoryRouter(tickets=None).opened(make_fault("a", owner="shop")) == [
        "slack:#shop opened"
    ]


@pytest.mark.parametrize(
    ("owner", "reason"),
    [
        (None, "The root has no owner."),
        ("gone", "The root has no owner. The policy has no owner gone."),
        ("mute", "Owner mute has no channel for a page."),
    ],
)
def test_incident_without_a_reachable_owner_goes_to_the_platform(owner, reason):
    """Give the reason."""
    router = MemoryRouter()

    sent = router.opened(make_fault("a", owner=owner, level="page"))

    assert sent == ["pagerduty:platform.key opened", "slack:#platform opened"]
    assert (
        router.last_message("slack:#platform").note,
        router.last_message("slack:#platform").owner,
    ) == (
        reason,
        "platform",
    )
    assert router.without_recipient == []


def test_ticket_of_an_owner_with_pagerduty_only_goes_to_the_platform():
    """Page nobody for a ticket."""
    router = MemoryRouter(tickets=None)

    assert router.opened(make_fault("a", owner="keys")) == ["slack:#platform opened"]
    assert router.last_message("slack:#platform").note == "Owner keys has no channel for a ticket."


def test_without_a_platform_owner_the_fallback_is_notified():
    """Count it."""
    router = MemoryRouter(Policy(), fallback="slack:#last")

    assert router.opened(make_fault("a", owner="shop", level="page")) == ["slack:#last opened"]
    assert router.without_recipient == ["no_platform"]
    assert "The policy has no owner platform" in router.last_message("slack:#last").note


def test_incident_without_a_channel_is_retried():
    """Count each time; notify once the policy has a channel."""
    router = MemoryRouter(Policy(), tickets=None)

    assert router.opened(make_fault("a", owner="shop")) == []
    assert router.without_recipient == ["no_way"]
    router.policy = MemoryRouter().policy
    assert router.route_due(30 + 599) == []
    assert router.route_due(30 + 600) == ["slack:#shop opened"]


def test_incident_of_lineward_goes_to_the_platform():
    """Leave out the note on a missing owner."""
    router = MemoryRouter()

    assert router.opened(outage()) == ["pagerduty:platform.key opened", "slack:#platform opened"]
    assert router.last_message("slack:#platform").note == ""


def test_downstream_owner_gets_one_notice():
    """List its own datasets and the first deadline; leave out the root's owner and the platform."""
    router = MemoryRouter()
    by_owner = {name: theirs(count=2) for name in ("shop", "pay", "platform", "gone", "keys")}

    sent = router.opened(make_fault("ab", owner="shop", level="page"), by_owner=by_owner)

    assert sent == ["pagerduty:shop.key opened", "slack:#pay notice", "slack:#shop opened"]
    notice = router.last_message("slack:#pay")
    assert (notice.impacted, notice.impacted_count) == (theirs().impacted, 2)
    assert notice.note == (
        "Datasets of pay are downstream. shop was notified to fix the root."
        " The first deadline is 1970-01-01 00:00 UTC."
    )


def test_teams_that_share_a_channel_get_one_notice():
    """List the datasets of all."""
    owners = [each for each in MemoryRouter().policy.owners if each.name != "chat"]
    router = MemoryRouter(Policy(owners=(*owners, Owner("chat", "#pay"))))
    by_owner = {"pay": theirs("marts/x", 2), "chat": theirs("marts/y", 3)}

    router.opened(make_fault("ab", owner="shop"), by_owner=by_owner)

    notice = router.last_message("slack:#pay")
    assert [each.name for each in notice.impacted] == ["marts/y", "marts/x"]
    assert notice.impacted_count == 5


def test_most_severe_of_a_shared_channel_is_first():
    """Keep the critical dataset of one team before ten optional ones of another."""
    owners = [each for each in MemoryRouter().policy.owners if each.name != "chat"]
    router = MemoryRouter(Policy(owners=(*owners, Owner("chat", "#pay"))))
    many = tuple(Impacted("db", f"t{number}", "optional", "late") for number in range(10))
    critical = (Impacted("db", "board", "critical", "late"),)
    by_owner = {
        "chat": OwnerImpact(many, 10, (("optional", 10),)),
        "pay": OwnerImpact(critical, 1, (("critical", 1),)),
    }

    router.opened(make_fault("ab", owner="shop"), by_owner=by_owner)

    notice = router.last_message("slack:#pay")
    assert [each.name for each in notice.impacted] == ["board", *(f"t{n}" for n in range(9))]
    assert notice.tiers == (("critical", 1), ("optional", 10))


def test_notice_is_repeated_for_new_datasets_after_an_hour():
    """Send once otherwise."""
    router, more = MemoryRouter(), {"pay": theirs(keys=frozenset({ord("c")}))}
    router.opened(make_fault("ab", owner="shop"), by_owner={"pay": theirs()})

    assert router.at(400, make_fault("ab", "lost", owner="shop"), by_owner=more) == [
        "slack:#shop changed",
        "webhook:tickets changed",
    ]
    assert "slack:#pay notice" not in router.at(
        800, make_fault("abc", "lost", owner="shop"), by_owner=more
    )
    assert router.route_due(30 + 3599) == []
    assert router.route_due(30 + 3600) == ["slack:#pay notice"]
    assert router.route_due(30 + 9999) == []


def test_without_the_rule_each_change_is_a_notice(monkeypatch):
    """Run the mutant: send a notice at each change."""
    monkeypatch.setattr("alerts.notify.downstream_notices._is_due", lambda *_: True)
    router = MemoryRouter()
    router.opened(make_fault("ab", owner="shop"), by_owner={"pay": theirs()})

    assert "slack:#pay notice" in router.at(
        60, make_fault("ab", "lost", owner="shop"), by_owner={"pay": theirs()}
    )


def test_standing_gap_sends_no_notice():
    """Send the ticket to its owner only."""
    router = MemoryRouter()

    sent = router.opened(make_fault("ab", "standing_gap", owner="shop"), by_owner={"pay": theirs()})

    assert sent == ["slack:#shop opened", "webhook:tickets opened"]


def test_links_lead_to_the_configured_address_only():
    """Quote names of events in them."""
    router = MemoryRouter(dashboards_url="https://grafana.test")
    router.opened(make_fault("a", owner="shop"), dataset=("s3://x?&", "a b/#<!channel>"))

    links = router.last_message("slack:#shop").links
    number = router.one.id
    assert links.runbook == "https://lineward.test/runbooks/job-failed"
    assert links.full_list == f"https://lineward.test/incidents/{number}"
    named = "s3%3A%2F%2Fx%3F%26&{}dataset=a%20b%2F%23%3C%21channel%3E"
    lineage = "https://lineward.test/dataset?dataset_namespace="
    assert links.explorer == lineage + named.format("")
    board = "https://grafana.test/d/lineward-on-call?var-dataset_namespace="
    assert links.dashboard == board + named.format("var-")


def test_without_grafana_a_message_has_no_link_to_it():
    """Leave it out: Lineward serves no dashboards."""
    router = MemoryRouter()
    router.opened(make_fault("a", owner="shop"), dataset=("s3://x", "a"))

    assert router.last_message("slack:#shop").links.dashboard is None


def test_incident_without_a_summary_is_sent():
    """Send the known fields."""
    router, fault = MemoryRouter(), make_fault("a", owner="shop")
    first = advance((), StepInput(0, (fault,)))
    second = advance(first.incidents, StepInput(30 * SECOND_MICROS, (fault,)))

    (outgoing, _) = plan_step(second, {}, {}, router.context, 30 * SECOND_MICROS).notifications
    assert outgoing.message.what == "Fault of kind failed"


def test_fallback_pages_for_a_ticket_without_another_channel():
    """Count it."""
    settings = type(SETTINGS)(fallback="pagerduty:last.key")

    address = recipient_of(Policy(), settings, None, "ticket")

    assert (address.channels, address.problem) == (("pagerduty:last.key",), "no_platform")
