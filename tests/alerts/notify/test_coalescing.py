"""Choice among waiting messages: sent or dropped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.notify.channels.page_actions import action_of
from alerts.notify.coalescing import NextMessage, WaitingMessage, choose_next

KINDS = ("opened", "changed", "acknowledged", "resolved", "handed_over", "test")


def _waiting(*kinds: str) -> list[WaitingMessage]:
    return [WaitingMessage(revision, kind) for revision, kind in enumerate(kinds, start=1)]


def _send_all(kind: str, waiting: list[WaitingMessage]) -> list[str]:
    """Return the kinds that are sent when each is accepted, in order."""
    sent: list[str] = []
    while waiting:
        plan = choose_next(kind, waiting, sent[-1] if sent else None)
        gone = {revision for revision, _ in plan.dropped} | {plan.revision}
        sent += [each.kind for each in waiting if each.revision == plan.revision]
        waiting = [each for each in waiting if each.revision not in gone]
    return sent


@pytest.mark.parametrize(
    ("channel", "waiting", "sent"),
    [
        ("slack", ("opened", "changed", "resolved"), ["resolved"]),
        ("webhook", ("opened", "changed", "resolved"), ["opened", "changed", "resolved"]),
        ("pagerduty", ("opened", "resolved"), []),
        ("pagerduty", ("opened", "changed", "changed"), ["changed"]),
        ("pagerduty", ("opened", "acknowledged", "changed"), ["opened", "acknowledged"]),
        ("pagerduty", ("resolved",), []),
        ("pagerduty", ("acknowledged", "resolved", "opened"), ["opened"]),
        ("pagerduty", ("opened", "handed_over", "resolved"), []),
        ("pagerduty", ("opened", "resolved", "opened", "changed"), ["changed"]),
    ],
)
def test_messages_sent_of_all_that_wait(channel, waiting, sent):
    """Send one edit for all before it; drop a page that is over."""
    assert _send_all(channel, _waiting(*waiting)) == sent


@pytest.mark.parametrize(
    ("doubt_since", "last_sent", "plan"),
    [
        (None, "opened", NextMessage(4, ((2, "superseded"), (3, "superseded")))),
        (7, None, NextMessage(4, ((2, "superseded"), (3, "superseded")), 7)),
        (None, None, NextMessage(5, tuple((gone, "never_triggered") for gone in (2, 3, 4)))),
    ],
)
def test_resolve_is_sent_of_what_may_be_open(doubt_since, last_sent, plan):
    """Send it first where the fault began again, and alone where nothing was opened."""
    over = [
        WaitingMessage(2, "opened", doubt_since),
        WaitingMessage(3, "acknowledged"),
        WaitingMessage(4, "resolved"),
    ]

    assert choose_next("pagerduty", [*over, WaitingMessage(5, "opened")], last_sent) == plan


def test_resolve_in_doubt_is_sent_again():
    """Send it though the last accepted message is a resolve."""
    plan = choose_next("pagerduty", [WaitingMessage(3, "resolved", doubt_since=7)], "resolved")

    assert plan == NextMessage(3, (), 7)


def test_doubt_passes_to_the_message_that_supersedes():
    """Search for the newer message from then on: the older one may be in the channel."""
    waiting = [
        WaitingMessage(1, "opened", 5),
        WaitingMessage(2, "changed", 9),
        WaitingMessage(3, "resolved"),
    ]

    plan = choose_next("slack", waiting, None)

    assert plan == NextMessage(3, ((1, "superseded"), (2, "superseded")), 5)


@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=12))
def test_pagerduty_ends_as_with_all_messages(kinds):
    """Leave the alert open exactly if it were open with nothing dropped."""
    is_open, is_known = False, False
    for kind in kinds:
        if kind == "changed":
            is_open = is_open or not is_known
            continue
        is_known = action_of(kind) != "trigger"
        is_open = not is_known or (is_open and action_of(kind) == "acknowledge")

    sent = _send_all("pagerduty", _waiting(*kinds))

    assert is_open == bool(sent and action_of(sent[-1]) != "resolve")
    assert not sent or action_of(sent[0]) == "trigger"


@given(st.sampled_from(KINDS), st.lists(st.just("changed"), min_size=1, max_size=5))
def test_change_never_triggers_after_the_first_page(last_sent, kinds):
    """Send none, as a trigger pages again after a person resolved the alert."""
    plan = choose_next("pagerduty", _waiting(*kinds), last_sent)

    assert plan.revision is None
    assert plan.dropped == tuple((at, "would_page_again") for at in range(1, len(kinds) + 1))


@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=12))
def test_slack_receives_the_newest_state_only(kinds):
    """Drop all that wait before it."""
    assert _send_all("slack", _waiting(*kinds)) == [kinds[-1]]
