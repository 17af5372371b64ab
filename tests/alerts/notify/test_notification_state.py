"""Stored state that two releases read and write."""

import msgspec

from alerts.notify.message import MessageRoot
from alerts.notify.notification_state import (
    ChannelState,
    DownstreamNotice,
    NotificationState,
)
from tests.alerts.notify.messages import message

# As the release before wrote it: `draft` is cut to what its type demands.
BEFORE = """
{"incident_id":"i1","draft":{"incident_id":"i1","revision":1,"kind":"opened","severity":"page",
"what":"w","since":1,"at":2,"root":{"kind":"job","name":"n","namespace":"s"},"owner":"shop"},
"state":"open","fault":"failed","waits_for_digest":true,"is_released":true,"waits_until":3,
"told_at":4,"said_at":5,"is_stale":true,"ring_at":6,"is_hidden_told":true,
"places":[{"channel":"pagerduty:k","role":"owner","known_as":"i0","is_open":false,"rung":2}],
"notices":[{"channel":"slack:#a","owners":["a"],"impacted":[],"count":1,"tiers":[],"told_at":7,
"is_due":false}]}
"""
DRAFT = message(
    incident_id="i1", what="w", since=1, at=2, root=MessageRoot("job", "n", "s"), owner="shop"
)
STATE = NotificationState(
    incident_id="i1",
    draft=DRAFT,
    incident_state="open",
    fault="failed",
    is_digest_only=True,
    is_confirmed=True,
    hold_until=3,
    notified_at=4,
    last_notified_at=5,
    has_unsent_changes=True,
    repage_at=6,
    is_summary_sent=True,
    channels=(ChannelState("pagerduty:k", "owner", "i0", is_open=False, page_count=2),),
    notices=(DownstreamNotice("slack:#a", ("a",), (), 1, (), 7, is_due=False),),
)


def test_state_of_the_release_before_is_read():
    """Read each field by the name that it had: an upgrade neither pages again nor forgets."""
    assert msgspec.json.decode(BEFORE, type=NotificationState) == STATE


def test_state_is_stored_under_the_same_names():
    """Write what the release before reads: both run during a rolling upgrade."""
    stored = msgspec.json.decode(msgspec.json.encode(STATE))

    assert (
        stored.items()
        >= {
            key: value for key, value in msgspec.json.decode(BEFORE).items() if key != "draft"
        }.items()
    )
