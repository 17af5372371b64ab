"""Choice among the waiting messages of an incident: the next one, and those to drop."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from alerts.notify.channels.page_actions import action_of
from alerts.notify.channels.registry import find_type
from alerts.notify.message import MessageKind

SUPERSEDED: Final = "superseded"
NEVER_TRIGGERED: Final = "never_triggered"
WOULD_PAGE_AGAIN: Final = "would_page_again"


class WaitingMessage(msgspec.Struct, frozen=True):
    """Message that waits. `doubt_since`: it may have arrived since then; µs."""

    revision: int
    kind: MessageKind
    doubt_since: int | None = None


class NextMessage(msgspec.Struct, frozen=True):
    """Next message of an incident in one channel.

    Attributes:
        revision: of what is sent next; None: nothing is.
        dropped: revisions that a later one replaces or that are pointless, with the reason.
        doubt_since: from then on what is sent, or what it stands for, may have arrived; µs.
    """

    revision: int | None = None
    dropped: tuple[tuple[int, str], ...] = ()
    doubt_since: int | None = None


_Rule = Callable[[Sequence[WaitingMessage], MessageKind | None], NextMessage]


def choose_next(
    channel: str, waiting: Sequence[WaitingMessage], last_sent: MessageKind | None
) -> NextMessage:
    """Return the next message of one incident in one channel.

    Args:
        channel: its name.
        waiting: in their order; at least one.
        last_sent: kind of the last message that the channel took of this incident.
    """
    return rule_of(channel)(waiting, last_sent)


def _first(waiting: Sequence[WaitingMessage], _: MessageKind | None) -> NextMessage:
    return NextMessage(waiting[0].revision, (), waiting[0].doubt_since)


def _latest(waiting: Sequence[WaitingMessage], _: MessageKind | None) -> NextMessage:
    """Choose the newest state: the one message is edited in place."""
    return _merge(waiting)


def _page_lifecycle(
    waiting: Sequence[WaitingMessage], last_sent: MessageKind | None
) -> NextMessage:
    """Drop a page that is over already; merge triggers in a row."""
    is_open = last_sent is not None and action_of(last_sent) != "resolve"
    pages_again = _changes_that_page(waiting, last_sent)
    pointless = [(each.revision, WOULD_PAGE_AGAIN) for each in pages_again]
    waiting = [each for each in waiting if each not in pages_again]
    while waiting:
        life = _first_lifecycle(waiting)
        is_over = action_of(life[-1].kind) == "resolve"
        # In doubt, its first try may have opened or closed something: its end is sent.
        if is_over and (is_open or any(each.doubt_since is not None for each in life)):
            return _prepend(pointless, _merge(life))
        if not is_over and (is_open or _begins(life[0])):
            return _prepend(pointless, _merge(_triggers_from(life)))
        gone = life if is_over else life[:1]
        pointless += [(each.revision, NEVER_TRIGGERED) for each in gone]
        waiting = waiting[len(gone) :]
    return NextMessage(dropped=tuple(pointless))


def _changes_that_page(
    waiting: Sequence[WaitingMessage], last_sent: MessageKind | None
) -> list[WaitingMessage]:
    """Return the changes that are not part of a first page.

    A trigger opens a new alert, and pages, where somebody in PagerDuty or its auto-resolve has
    resolved the one before. Lineward cannot know whether somebody did.
    """
    found, is_known = [], last_sent is not None
    for each in waiting:
        if each.kind == "changed" and is_known:
            found.append(each)
        elif each.kind != "changed":
            is_known = action_of(each.kind) != "trigger"
    return found


def _first_lifecycle(waiting: Sequence[WaitingMessage]) -> Sequence[WaitingMessage]:
    """Return the messages up to the first resolve."""
    for count, each in enumerate(waiting, start=1):
        if action_of(each.kind) == "resolve":
            return waiting[:count]
    return waiting


def _begins(first: WaitingMessage) -> bool:
    return action_of(first.kind) == "trigger" or first.doubt_since is not None


def _prepend(pointless: Sequence[tuple[int, str]], plan: NextMessage) -> NextMessage:
    return msgspec.structs.replace(plan, dropped=(*pointless, *plan.dropped))


def _triggers_from(waiting: Sequence[WaitingMessage]) -> Sequence[WaitingMessage]:
    for count, each in enumerate(waiting):
        if action_of(each.kind) != "trigger":
            return waiting[: max(1, count)]
    return waiting


def _merge(together: Sequence[WaitingMessage]) -> NextMessage:
    doubts = [each.doubt_since for each in together if each.doubt_since is not None]
    dropped = tuple((each.revision, SUPERSEDED) for each in together[:-1])
    return NextMessage(together[-1].revision, dropped, min(doubts, default=None))


def rule_of(channel: str) -> _Rule:
    """Return which of its waiting messages a channel is sent: by what its type can do."""
    known = find_type(channel)
    if known is not None and known.can_page:
        return _page_lifecycle
    return _latest if known is not None and known.can_edit else _first
