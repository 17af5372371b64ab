"""Which of what waits is sent, and which need not be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.notify.channels.pagerduty.payload import action_of
from alerts.notify.coalescing import NextMessage, WaitingMessage, choose_next

RUNG = ("opened", "changed", "acknowledged", "resolved", "handed_over", "test")


def _waiting(*kinds: str) -> list[WaitingMessage]:
    return [WaitingMessage(revision, kind) for revision, kind in enumerate(kinds, start=1)]


def _all_sent(kind: str, waiting: list[WaitingMessage]) -> list[str]:
    """Kinds that are sent when each is taken, in order."""
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
def test_what_is_sent_of_all_that_waits(channel, waiting, sent):
    """An edit says all that came before it; what is over rings nobody."""
    assert _all_sent(channel, _waiting(*waiting)) == sent


@pytest.mark.parametrize(
    ("doubt_since", "last_sent", "plan"),
    [
        (None, "opened", NextMessage(4, ((2, "superseded"), (3, "superseded")))),
        (7, None, NextMessage(4, ((2, "superseded"), (3, "superseded")), 7)),
        (None, None, NextMessage(5, tuple((gone, "never_triggered") for gone in (2, 3, 4)))),
    ],
)
def test_the_end_is_sent_of_what_is_open_or_may_be(doubt_since, last_sent, plan):
    """It is over and has begun anew: the end goes first, and alone where nothing was opened."""
    over = [
        WaitingMessage(2, "opened", doubt_since),
        WaitingMessage(3, "acknowledged"),
        WaitingMessage(4, "resolved"),
    ]

    assert choose_next("pagerduty", [*over, WaitingMessage(5, "opened")], last_sent) == plan


def test_a_resolve_whose_first_try_may_have_arrived_is_sent_again():
    """The last that is known to be taken is a resolve, but this one is in doubt."""
    plan = choose_next("pagerduty", [WaitingMessage(3, "resolved", doubt_since=7)], "resolved")

    assert plan == NextMessage(3, (), 7)


def test_a_doubt_is_handed_on_to_what_supersedes_it():
    """The older one may be in the channel: the newer one must be looked for from then on."""
    waiting = [
        WaitingMessage(1, "opened", 5),
        WaitingMessage(2, "changed", 9),
        WaitingMessage(3, "resolved"),
    ]

    plan = choose_next("slack", waiting, None)

    assert plan == NextMessage(3, ((1, "superseded"), (2, "superseded")), 5)


@given(st.lists(st.sampled_from(RUNG), min_size=1, max_size=12))
def test_pagerduty_ends_in_the_state_that_all_messages_one_by_one_would_give(kinds):
    """Whatever is left out, the alert is open exactly if it would be with nothing left out."""
    is_open, is_known = False, False
    for kind in kinds:
        if kind == "changed":
            is_open = is_open or not is_known
            continue
        is_known = action_of(kind) != "trigger"
        is_open = not is_known or (is_open and action_of(kind) == "acknowledge")

    sent = _all_sent("pagerduty", _waiting(*kinds))

    assert is_open == bool(sent and action_of(sent[-1]) != "resolve")
    assert not sent or action_of(sent[0]) == "trigger"


@given(st.sampled_from(RUNG), st.lists(st.just("changed"), min_size=1, max_size=5))
def test_a_change_never_triggers_after_the_first_page(last_sent, kinds):
    """Somebody may have resolved the alert in PagerDuty: a trigger would page again."""
    plan = choose_next("pagerduty", _waiting(*kinds), last_sent)

    assert plan.revision is None
    assert plan.dropped == tuple((at, "would_page_again") for at in range(1, len(kinds) + 1))


@given(st.lists(st.sampled_from(RUNG), min_size=1, max_size=12))
def test_slack_is_sent_the_last_state_alone(kinds):
    """However many wait."""
    assert _all_sent("slack", _waiting(*kinds)) == [kinds[-1]]
