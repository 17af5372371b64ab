"""Receivers: the scorer gets the message that a person reads."""

import json

import msgspec

from alerts.notify.channels.page_actions import action_of
from alerts.notify.channels.pagerduty.payload import build_event
from alerts.notify.channels.slack.blocks import build_blocks
from alerts.notify.message import Impacted, MessageLinks, MessageRoot, to_json
from lab.gameday.fake_receivers import Receivers
from lab.gameday.truth_shapes import NamePattern
from tests.alerts.notify.messages import message

LINK = "https://lineward.example/api/v1/impact?incident=i1&at=2"
OPENED = message(
    incident_id="i1",
    root=MessageRoot("job", "clean_orders", "shop & sons"),
    owner="shop",
    impacted=(Impacted("s3://lake", "mart/revenue", "critical", "bad"),),
    impacted_count=1,
    links=MessageLinks(full_list=LINK),
)


def changed(**fields: object):
    return msgspec.structs.replace(OPENED, **fields)


def event(given):
    sent = {"event_action": action_of(given.kind), "dedup_key": given.incident_id}
    return sent | build_event(given)


def test_a_page_pages_once():
    """Count triggers of one key as one alert until it is resolved.

    Another key is another alert.
    """
    fakes = Receivers()
    given = [OPENED, changed(kind="changed"), changed(kind="resolved"), OPENED]
    for at, one in enumerate(given):
        fakes.pagerduty("keys/shop", event(one), at)
    fakes.pagerduty("keys/platform", event(OPENED), 9)

    assert [each.what for each in fakes.messages] == ["page", "other", "resolved", "page", "page"]


def test_pagerduty_messages_are_read():
    """Read root, owner and link from the event."""
    fakes = Receivers()
    plain = changed(root=MessageRoot("job", "clean_orders", "shop"))
    fakes.pagerduty("keys/shop", event(plain), 5)
    (received,) = fakes.messages

    assert (received.at, received.incident, received.owner) == (5, "i1", "shop")
    assert (received.root, received.full_list) == (NamePattern("shop", "clean_orders"), LINK)


def test_slack_messages_are_read():
    """Read from the blocks, entities undone; the link is whole."""
    fakes = Receivers()
    ticket = changed(severity="ticket", root=MessageRoot("dataset", "core/a<b", "s3://lake"))
    ts = fakes.slack_post("#shop", {"blocks": build_blocks(ticket)}, 5_000_000)
    fakes.slack_post("#shop", {"text": "Changed: it grew", "thread_ts": ts}, 6_000_000)
    fakes.slack_update("#shop", {"blocks": build_blocks(changed(kind="resolved"))}, 7_000_000)

    assert [each.what for each in fakes.messages] == ["ticket", "resolved"]
    received = fakes.messages[0]
    assert (received.root, received.owner) == (NamePattern("s3://lake", "core/a<b"), "shop")
    assert (received.incident, received.to, received.full_list) == ("i1", "#shop", LINK)


def test_a_page_in_slack_pages_nobody():
    """Page by PagerDuty only."""
    fakes = Receivers()
    fakes.slack_post("#shop", {"blocks": build_blocks(OPENED)}, 5)

    assert [each.what for each in fakes.messages] == ["other"]


def test_without_pagerduty_a_page_in_slack_pages_once():
    """Ignore its edits, unless it was a ticket or resolved before; a notice is no page."""
    fakes = Receivers(slack_pages=True)
    fakes.slack_post("#shop", {"blocks": build_blocks(changed(severity="ticket"))}, 1)
    for kind in ("changed", "changed", "acknowledged", "resolved", "changed"):
        fakes.slack_update("#shop", {"blocks": build_blocks(changed(kind=kind))}, 2)
    fakes.slack_post("#store", {"blocks": build_blocks(changed(kind="notice"))}, 3)

    expected = ["ticket", "page", "other", "other", "resolved", "page", "other"]
    assert [each.what for each in fakes.messages] == expected


def test_webhook_messages_are_read():
    """Count a ticket when it opens, and no notice."""
    fakes = Receivers()
    for kind, severity in (("opened", "ticket"), ("opened", "page"), ("notice", "ticket")):
        fakes.webhook("tickets", to_json(changed(kind=kind, severity=severity)).encode(), 5)
    fakes.webhook("tickets", to_json(changed(kind="resolved")).encode(), 6)

    assert [each.what for each in fakes.messages] == ["ticket", "other", "other", "resolved"]
    assert fakes.messages[0].root == NamePattern("shop & sons", "clean_orders")
    assert fakes.messages[0].full_list == json.loads(to_json(OPENED))["links"]["full_list"]


def test_a_part_of_the_service_is_read_from_its_own_words():
    """Name a collector that is down as PagerDuty does."""
    fakes = Receivers()
    own = changed(root=MessageRoot("service", "collector", "lineward"))
    fakes.pagerduty("keys/platform", event(own), 5)
    fakes.slack_post("#platform", {"blocks": build_blocks(changed(root=own.root))}, 6)

    assert [each.root for each in fakes.messages] == [NamePattern("lineward", "collector")] * 2
