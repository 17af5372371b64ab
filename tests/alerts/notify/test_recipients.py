"""Who is told of a fault, and through what."""

import pytest

from alerts.incidents.estate import MICROS
from alerts.incidents.life import step
from alerts.incidents.steps import Now
from alerts.notify.incident_summary import Theirs
from alerts.notify.message import Impacted
from alerts.notify.planning import letters
from alerts.notify.recipients import address_of
from lineage.policy.model import Owner, Policy
from tests.alerts.incidents.stories import found
from tests.alerts.notify.memory_router import SETTINGS, Town, outage, theirs


def test_a_page_rings_its_owner_and_stands_in_slack():
    """The owner of the root, by both ways, and nobody else."""
    said = Town().opened(found("ab", owner="shop", level="page"))

    assert said == ["pagerduty:shop.key opened", "slack:#shop opened"]


def test_a_ticket_rings_nobody():
    """Slack and the webhook for tickets; never PagerDuty."""
    assert Town().opened(found("ab", owner="shop")) == [
        "slack:#shop opened",
        "webhook:tickets opened",
    ]


def test_without_a_webhook_a_ticket_is_in_slack_alone():
    """What is not set is not sent to."""
    assert Town(tickets=None).opened(found("a", owner="shop")) == ["slack:#shop opened"]


@pytest.mark.parametrize(
    ("owner", "said"),
    [
        (None, "Nobody owns it."),
        ("gone", "Nobody owns it: the policy knows no owner called gone."),
        ("mute", "Its owner mute has no channel for a page."),
    ],
)
def test_what_nobody_can_be_told_of_goes_to_the_platform(owner, said):
    """With the reason why they hear of it."""
    town = Town()

    told = town.opened(found("a", owner=owner, level="page"))

    assert told == ["pagerduty:platform.key opened", "slack:#platform opened"]
    assert (town.said("slack:#platform").note, town.said("slack:#platform").owner) == (
        said,
        "platform",
    )
    assert town.gaps == []


def test_a_ticket_for_who_has_a_pager_alone_goes_to_the_platform():
    """Nobody is rung for a ticket, and without a webhook there is no other way to them."""
    town = Town(tickets=None)

    assert town.opened(found("a", owner="keys")) == ["slack:#platform opened"]
    assert town.said("slack:#platform").note == "Its owner keys has no channel for a ticket."


def test_without_a_platform_the_fallback_is_told_and_a_gap_counted():
    """Never lost, and never quietly."""
    town = Town(Policy(), fallback="slack:#last")

    assert town.opened(found("a", owner="shop", level="page")) == ["slack:#last opened"]
    assert town.gaps == ["no_platform"]
    assert "The policy has no owner platform" in town.said("slack:#last").note


def test_without_any_way_it_is_tried_again_until_there_is_one():
    """Counted each time; a policy that is mended has it told."""
    town = Town(Policy(), tickets=None)

    assert town.opened(found("a", owner="shop")) == []
    assert town.gaps == ["no_way"]
    town.policy = Town().policy
    assert town.turn(30 + 599) == []
    assert town.turn(30 + 600) == ["slack:#shop opened"]


def test_lineward_itself_is_the_platforms():
    """Without an owner, and without a note that nobody owns it."""
    town = Town()

    assert town.opened(outage()) == ["pagerduty:platform.key opened", "slack:#platform opened"]
    assert town.said("slack:#platform").note == ""


def test_whoever_is_downstream_gets_one_notice_of_theirs():
    """In Slack, theirs alone, with the first limit; not the root's owner, not the platform."""
    town = Town()
    by_owner = {name: theirs(count=2) for name in ("shop", "pay", "platform", "gone", "keys")}

    said = town.opened(found("ab", owner="shop", level="page"), by_owner=by_owner)

    assert said == ["pagerduty:shop.key opened", "slack:#pay notice", "slack:#shop opened"]
    notice = town.said("slack:#pay")
    assert (notice.impacted, notice.impacted_count) == (theirs().impacted, 2)
    assert notice.note == (
        "Datasets of pay are downstream. shop was notified to fix the root."
        " The first limit is 1970-01-01 00:00 UTC."
    )


def test_teams_that_share_a_channel_are_told_together():
    """One message, all of theirs."""
    owners = [each for each in Town().policy.owners if each.name != "chat"]
    town = Town(Policy(owners=(*owners, Owner("chat", "#pay"))))
    by_owner = {"pay": theirs("marts/x", 2), "chat": theirs("marts/y", 3)}

    town.opened(found("ab", owner="shop"), by_owner=by_owner)

    notice = town.said("slack:#pay")
    assert [each.name for each in notice.impacted] == ["marts/y", "marts/x"]
    assert notice.impacted_count == 5


def test_of_teams_that_share_a_channel_the_gravest_is_listed_first():
    """Ten optional ones of one team do not push out the critical one of another."""
    owners = [each for each in Town().policy.owners if each.name != "chat"]
    town = Town(Policy(owners=(*owners, Owner("chat", "#pay"))))
    many = tuple(Impacted("db", f"t{number}", "optional", "late") for number in range(10))
    critical = (Impacted("db", "board", "critical", "late"),)
    by_owner = {
        "chat": Theirs(many, 10, (("optional", 10),)),
        "pay": Theirs(critical, 1, (("critical", 1),)),
    }

    town.opened(found("ab", owner="shop"), by_owner=by_owner)

    notice = town.said("slack:#pay")
    assert [each.name for each in notice.impacted] == ["board", *(f"t{n}" for n in range(9))]
    assert notice.tiers == (("critical", 1), ("optional", 10))


def test_a_notice_comes_again_only_of_what_joins_and_after_an_hour():
    """Whatever else changes, once is enough."""
    town, more = Town(), {"pay": theirs(keys=frozenset({ord("c")}))}
    town.opened(found("ab", owner="shop"), by_owner={"pay": theirs()})

    assert town.at(400, found("ab", "lost", owner="shop"), by_owner=more) == [
        "slack:#shop changed",
        "webhook:tickets changed",
    ]
    assert "slack:#pay notice" not in town.at(
        800, found("abc", "lost", owner="shop"), by_owner=more
    )
    assert town.turn(30 + 3599) == []
    assert town.turn(30 + 3600) == ["slack:#pay notice"]
    assert town.turn(30 + 9999) == []


def test_without_a_memory_each_change_would_be_a_notice(monkeypatch):
    """The mutant."""
    monkeypatch.setattr("alerts.notify.downstream_notices._is_due", lambda *_: True)
    town = Town()
    town.opened(found("ab", owner="shop"), by_owner={"pay": theirs()})

    assert "slack:#pay notice" in town.at(
        60, found("ab", "lost", owner="shop"), by_owner={"pay": theirs()}
    )


def test_a_gap_that_always_stood_is_no_news_downstream():
    """Its owner alone has a ticket."""
    town = Town()

    said = town.opened(found("ab", "standing_gap", owner="shop"), by_owner={"pay": theirs()})

    assert said == ["slack:#shop opened", "webhook:tickets opened"]


def test_links_lead_to_the_operators_address_alone():
    """What events name is quoted into them."""
    town = Town(dashboards_url="https://grafana.test")
    town.opened(found("a", owner="shop"), dataset=("s3://x?&", "a b/#<!channel>"))

    links = town.said("slack:#shop").links
    number = town.one.id
    assert links.runbook == "https://lineward.test/runbooks/job-failed"
    assert links.full_list == f"https://lineward.test/incidents/{number}"
    named = "s3%3A%2F%2Fx%3F%26&{}dataset=a%20b%2F%23%3C%21channel%3E"
    lineage = "https://lineward.test/dataset?dataset_namespace="
    assert links.explorer == lineage + named.format("")
    board = "https://grafana.test/d/lineward-on-call?var-dataset_namespace="
    assert links.dashboard == board + named.format("var-")


def test_without_grafana_a_message_has_no_link_to_it():
    """Lineward itself serves no dashboards: the link would be dead."""
    town = Town()
    town.opened(found("a", owner="shop"), dataset=("s3://x", "a"))

    assert town.said("slack:#shop").links.dashboard is None


def test_an_incident_without_a_picture_is_told_poorly():
    """Rather than not at all."""
    town, fault = Town(), found("a", owner="shop")
    first = step((), Now(0, (fault,)))
    second = step(first.incidents, Now(30 * MICROS, (fault,)))

    (letter, _) = letters(second, {}, {}, town.scene, 30 * MICROS).letters
    assert letter.message.what == "A fault of the kind failed"


def test_a_fallback_rings_for_a_ticket_where_there_is_no_other_way():
    """Better a pager than nobody; the gap says what to mend."""
    settings = type(SETTINGS)(fallback="pagerduty:last.key")

    address = address_of(Policy(), settings, None, "ticket")

    assert (address.channels, address.gap) == (("pagerduty:last.key",), "no_platform")
