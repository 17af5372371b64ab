"""What a person reads is what the scorer is told."""

import json

import msgspec

from alerts.notify.channels.pagerduty.payload import action_of, build_event
from alerts.notify.channels.slack.blocks import build_blocks
from alerts.notify.message import Impacted, Links, Root, to_json
from runbooks.gameday.received import Receivers
from runbooks.gameday.truth import Name
from tests.alerts.notify.messages import message

LINK = "https://lineward.example/api/v1/impact?incident=i1&at=2"
OPENED = message(
    incident_id="i1",
    root=Root("job", "clean_orders", "shop & sons"),
    owner="shop",
    impacted=(Impacted("s3://lake", "mart/revenue", "critical", "bad"),),
    impacted_count=1,
    links=Links(full_list=LINK),
)


def changed(**fields: object):
    return msgspec.structs.replace(OPENED, **fields)


def event(told):
    sent = {"event_action": action_of(told.kind), "dedup_key": told.incident_id}
    return sent | build_event(told)


def test_a_page_rings_once():
    """Triggers of one key are one alert, until it was resolved; another key is another phone."""
    fakes = Receivers()
    told = [OPENED, changed(kind="changed"), changed(kind="resolved"), OPENED]
    for at, one in enumerate(told):
        fakes.pagerduty("keys/shop", event(one), at)
    fakes.pagerduty("keys/platform", event(OPENED), 9)

    assert [each.what for each in fakes.heard] == ["page", "other", "resolved", "page", "page"]


def test_what_pagerduty_shows():
    """Root, owner and link as they stand in the event."""
    fakes = Receivers()
    plain = changed(root=Root("job", "clean_orders", "shop"))
    fakes.pagerduty("keys/shop", event(plain), 5)
    (heard,) = fakes.heard

    assert (heard.at, heard.incident, heard.owner) == (5, "i1", "shop")
    assert (heard.root, heard.full_list) == (Name("shop", "clean_orders"), LINK)


def test_what_slack_shows():
    """Read from the blocks, entities undone; the link is whole."""
    fakes = Receivers()
    ticket = changed(severity="ticket", root=Root("dataset", "core/a<b", "s3://lake"))
    ts = fakes.slack_post("#shop", {"blocks": build_blocks(ticket)}, 5_000_000)
    fakes.slack_post("#shop", {"text": "Changed: it grew", "thread_ts": ts}, 6_000_000)
    fakes.slack_update("#shop", {"blocks": build_blocks(changed(kind="resolved"))}, 7_000_000)

    assert [each.what for each in fakes.heard] == ["ticket", "resolved"]
    heard = fakes.heard[0]
    assert (heard.root, heard.owner) == (Name("s3://lake", "core/a<b"), "shop")
    assert (heard.incident, heard.to, heard.full_list) == ("i1", "#shop", LINK)


def test_a_page_in_slack_rings_nobody():
    """The phone is PagerDuty's."""
    fakes = Receivers()
    fakes.slack_post("#shop", {"blocks": build_blocks(OPENED)}, 5)

    assert [each.what for each in fakes.heard] == ["other"]


def test_where_there_is_no_pagerduty_a_page_in_slack_rings_once():
    """Its edits do not, unless it was a ticket before, or over; a notice is no page."""
    fakes = Receivers(slack_rings=True)
    fakes.slack_post("#shop", {"blocks": build_blocks(changed(severity="ticket"))}, 1)
    for kind in ("changed", "changed", "acknowledged", "resolved", "changed"):
        fakes.slack_update("#shop", {"blocks": build_blocks(changed(kind=kind))}, 2)
    fakes.slack_post("#store", {"blocks": build_blocks(changed(kind="notice"))}, 3)

    said = ["ticket", "page", "other", "other", "resolved", "page", "other"]
    assert [each.what for each in fakes.heard] == said


def test_what_the_webhook_gets():
    """A ticket is one when it opens; a notice is none."""
    fakes = Receivers()
    for kind, severity in (("opened", "ticket"), ("opened", "page"), ("notice", "ticket")):
        fakes.webhook("tickets", to_json(changed(kind=kind, severity=severity)).encode(), 5)
    fakes.webhook("tickets", to_json(changed(kind="resolved")).encode(), 6)

    assert [each.what for each in fakes.heard] == ["ticket", "other", "other", "resolved"]
    assert fakes.heard[0].root == Name("shop & sons", "clean_orders")
    assert fakes.heard[0].full_list == json.loads(to_json(OPENED))["links"]["full_list"]


def test_a_part_of_the_service_has_no_namespace():
    """A collector that is down is named alone."""
    fakes = Receivers()
    own = changed(root=Root("service", "collector", ""))
    fakes.pagerduty("keys/platform", event(own), 5)
    fakes.slack_post("#platform", {"blocks": build_blocks(changed(root=own.root))}, 6)

    assert [each.root for each in fakes.heard] == [Name("", "collector")] * 2
