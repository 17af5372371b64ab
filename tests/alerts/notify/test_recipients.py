"""Who is told of a fault, and through what."""

import pytest

from alerts.incidents.estate import MICROS
from alerts.incidents.life import step
from alerts.incidents.steps import Now
from alerts.notify.incident_summary import OwnerImpact
from alerts.notify.message import Impacted
from alerts.notify.planning import plan_step
from alerts.notify.recipients import recipient_of
from lineage.policy.model import Owner, Policy
from tests.alerts.incidents.stories import found
from tests.alerts.notify.memory_router import SETTINGS, MemoryRouter, outage, theirs


def test_a_page_rings_its_owner_and_stands_in_slack():
    """The owner of the root, by both ways, and nobody else."""
    said = MemoryRouter().opened(found("ab", owner="shop", level="page"))

    assert said == ["pagerduty:shop.key opened", "slack:#shop opened"]


def test_a_ticket_rings_nobody():
    """Slack and the webhook for tickets; never PagerDuty."""
    assert MemoryRouter().opened(found("ab", owner="shop")) == [
        "slack:#shop opened",
        "webhook:tickets opened",
    ]


def test_without_a_webhook_a_ticket_is_in_slack_alone():
    """What is not set is not sent to."""
    assert MemoryRouter(tickets=None).opened(found("a", owner="shop")) == ["slack:#shop opened"]


@pytest.mark.parametrize(
    ("owner", "said"),
    [
        (None, "The root has no owner."),
        ("gone", "The root has no owner. The policy has no owner gone."),
        ("mute", "Owner mute has no channel for a page."),
    ],
)
def test_what_nobody_can_be_told_of_goes_to_the_platform(owner, said):
    """With the reason why they hear of it."""
    router = MemoryRouter()

    told = router.opened(found("a", owner=owner, level="page"))

    assert told == ["pagerduty:platform.key opened", "slack:#platform opened"]
    assert (
        router.last_message("slack:#platform").note,
        router.last_message("slack:#platform").owner,
    ) == (
        said,
        "platform",
    )
    assert router.gaps == []


def test_a_ticket_for_who_has_a_pager_alone_goes_to_the_platform():
    """Nobody is rung for a ticket, and without a webhook there is no other way to them."""
    router = MemoryRouter(tickets=None)

    assert router.opened(found("a", owner="keys")) == ["slack:#platform opened"]
    assert router.last_message("slack:#platform").note == "Owner keys has no channel for a ticket."


def test_without_a_platform_the_fallback_is_told_and_a_gap_counted():
    """Never lost, and never quietly."""
    router = MemoryRouter(Policy(), fallback="slack:#last")

    assert router.opened(found("a", owner="shop", level="page")) == ["slack:#last opened"]
    assert router.gaps == ["no_platform"]
    assert "The policy has no owner platform" in router.last_message("slack:#last").note


def test_without_any_way_it_is_tried_again_until_there_is_one():
    """Counted each time; a policy that is mended has it told."""
    router = MemoryRouter(Policy(), tickets=None)

    assert router.opened(found("a", owner="shop")) == []
    assert router.gaps == ["no_way"]
    router.policy = MemoryRouter().policy
    assert router.route_due(30 + 599) == []
    assert router.route_due(30 + 600) == ["slack:#shop opened"]


def test_lineward_itself_is_the_platforms():
    """Without an owner, and without a note that nobody owns it."""
    router = MemoryRouter()

    assert router.opened(outage()) == ["pagerduty:platform.key opened", "slack:#platform opened"]
    assert router.last_message("slack:#platform").note == ""


def test_whoever_is_downstream_gets_one_notice_of_theirs():
    """In Slack, theirs alone, with the first limit; not the root's owner, not the platform."""
    router = MemoryRouter()
    by_owner = {name: theirs(count=2) for name in ("shop", "pay", "platform", "gone", "keys")}

    said = router.opened(found("ab", owner="shop", level="page"), by_owner=by_owner)

    assert said == ["pagerduty:shop.key opened", "slack:#pay notice", "slack:#shop opened"]
    notice = router.last_message("slack:#pay")
    assert (notice.impacted, notice.impacted_count) == (theirs().impacted, 2)
    assert notice.note == (
        "Datasets of pay are downstream. shop was notified to fix the root."
        " The first deadline is 1970-01-01 00:00 UTC."
    )


def test_teams_that_share_a_channel_are_told_together():
    """One message, all of theirs."""
    owners = [each for each in MemoryRouter().policy.owners if each.name != "chat"]
    router = MemoryRouter(Policy(owners=(*owners, Owner("chat", "#pay"))))
    by_owner = {"pay": theirs("marts/x", 2), "chat": theirs("marts/y", 3)}

    router.opened(found("ab", owner="shop"), by_owner=by_owner)

    notice = router.last_message("slack:#pay")
    assert [each.name for each in notice.impacted] == ["marts/y", "marts/x"]
    assert notice.impacted_count == 5


def test_of_teams_that_share_a_channel_the_gravest_is_listed_first():
    """Ten optional ones of one team do not push out the critical one of another."""
    owners = [each for each in MemoryRouter().policy.owners if each.name != "chat"]
    router = MemoryRouter(Policy(owners=(*owners, Owner("chat", "#pay"))))
    many = tuple(Impacted("db", f"t{number}", "optional", "late") for number in range(10))
    critical = (Impacted("db", "board", "critical", "late"),)
    by_owner = {
        "chat": OwnerImpact(many, 10, (("optional", 10),)),
        "pay": OwnerImpact(critical, 1, (("critical", 1),)),
    }

    router.opened(found("ab", owner="shop"), by_owner=by_owner)

    notice = router.last_message("slack:#pay")
    assert [each.name for each in notice.impacted] == ["board", *(f"t{n}" for n in range(9))]
    assert notice.tiers == (("critical", 1), ("optional", 10))


def test_a_notice_comes_again_only_of_what_joins_and_after_an_hour():
    """Whatever else changes, once is enough."""
    router, more = MemoryRouter(), {"pay": theirs(keys=frozenset({ord("c")}))}
    router.opened(found("ab", owner="shop"), by_owner={"pay": theirs()})

    assert router.at(400, found("ab", "lost", owner="shop"), by_owner=more) == [
        "slack:#shop changed",
        "webhook:tickets changed",
    ]
    assert "slack:#pay notice" not in router.at(
        800, found("abc", "lost", owner="shop"), by_owner=more
    )
    assert router.route_due(30 + 3599) == []
    assert router.route_due(30 + 3600) == ["slack:#pay notice"]
    assert router.route_due(30 + 9999) == []


def test_without_a_memory_each_change_would_be_a_notice(monkeypatch):
    """The mutant."""
    monkeypatch.setattr("alerts.notify.downstream_notices._is_due", lambda *_: True)
    router = MemoryRouter()
    router.opened(found("ab", owner="shop"), by_owner={"pay": theirs()})

    assert "slack:#pay notice" in router.at(
        60, found("ab", "lost", owner="shop"), by_owner={"pay": theirs()}
    )


def test_a_gap_that_always_stood_is_no_news_downstream():
    """Its owner alone has a ticket."""
    router = MemoryRouter()

    said = router.opened(found("ab", "standing_gap", owner="shop"), by_owner={"pay": theirs()})

    assert said == ["slack:#shop opened", "webhook:tickets opened"]


def test_links_lead_to_the_operators_address_alone():
    """What events name is quoted into them."""
    router = MemoryRouter(dashboards_url="https://grafana.test")
    router.opened(found("a", owner="shop"), dataset=("s3://x?&", "a b/#<!channel>"))

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
    """Lineward itself serves no dashboards: the link would be dead."""
    router = MemoryRouter()
    router.opened(found("a", owner="shop"), dataset=("s3://x", "a"))

    assert router.last_message("slack:#shop").links.dashboard is None


def test_an_incident_without_a_picture_is_told_poorly():
    """Rather than not at all."""
    router, fault = MemoryRouter(), found("a", owner="shop")
    first = step((), Now(0, (fault,)))
    second = step(first.incidents, Now(30 * MICROS, (fault,)))

    (outgoing, _) = plan_step(second, {}, {}, router.context, 30 * MICROS).notifications
    assert outgoing.message.what == "Fault of kind failed"


def test_a_fallback_rings_for_a_ticket_where_there_is_no_other_way():
    """Better a pager than nobody; the gap says what to mend."""
    settings = type(SETTINGS)(fallback="pagerduty:last.key")

    address = recipient_of(Policy(), settings, None, "ticket")

    assert (address.channels, address.gap) == (("pagerduty:last.key",), "no_platform")
