"""New attempt to post events that the collector rejected, once the cause is fixed."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from runbooks.actions.action import ActionContext, ActionPlan, Done
from runbooks.actions.errors import InvalidActionError, RejectedActionError

_MOST_SHOWN: Final = 5
_HEAD_ONLY: Final = "too_large"
_ROWS = "SELECT id, reason, detail, origin, length(body), body_bytes FROM rejected ORDER BY id"
_BODY = "SELECT body FROM rejected WHERE id = ?"


class RequeueRejected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rejected events: all, or of one reason, or of these numbers."""

    reason: str | None = None
    numbers: Annotated[tuple[int, ...], Meta(max_length=1_000)] = ()


class RejectedBody(msgspec.Struct, frozen=True):
    """Rejected body in the spool.

    Attributes:
        is_whole: all of it was kept; of larger ones the head is, which is no event.
    """

    number: int
    reason: str
    detail: str
    origin: str
    is_whole: bool


def plan(asked: RequeueRejected, context: ActionContext) -> ActionPlan:
    """Plan the events to post, by reason, with an example of each.

    Raises:
        InvalidActionError: a number is none of what is kept.
        RejectedActionError: no event is stored, or there is no spool here.
    """
    found = _kept(asked, context)
    whole = [one for one in found if one.is_whole]
    counts = Counter(one.reason for one in found)
    example = {one.reason: one for one in found}
    reasons = [
        f"{reason}: {count:,}, the newest is #{example[reason].number}: {example[reason].detail}"
        for reason, count in counts.most_common()
    ]
    cut = len(found) - len(whole)
    cautions = [f"{cut:,} were kept in part: their producers must send them again"] if cut else []
    return ActionPlan(
        does=(f"post {len(whole):,} rejected events again", *reasons),
        figures={"events": len(whole), "cut": cut},
        cautions=(*cautions, "events rejected again stay as they are; accepted ones are removed"),
    )


def perform(asked: RequeueRejected, context: ActionContext) -> Done:
    """Post one after the other, in the order in which they came.

    Raises:
        FailedActionError: the collector went away; the same call again goes on.
    """
    taken, again = 0, list[str]()
    for one in _kept(asked, context):
        body = _body(context, one.number) if one.is_whole else None
        if body is None:
            continue
        reason = context.collector.requeue(body, one.origin, one.number)
        if reason is None:
            taken += 1
        else:
            again.append(f"#{one.number}: {reason}")
    did = [f"{taken:,} were accepted, {len(again):,} rejected again", *again[:_MOST_SHOWN]]
    return Done(
        did=tuple(did), figures={"accepted": taken, "rejected": len(again)}, is_whole=not again
    )


def _kept(asked: RequeueRejected, context: ActionContext) -> list[RejectedBody]:
    found = list(_rows(context))
    if unknown := sorted(set(asked.numbers) - {one.number for one in found}):
        raise InvalidActionError(f"#{unknown[0]}: not rejected, or no longer stored")
    wanted = [
        one
        for one in found
        if (not asked.numbers or one.number in asked.numbers)
        and (asked.reason is None or one.reason == asked.reason)
    ]
    if not wanted:
        of_reason = "" if asked.reason is None else f" for {asked.reason[:80]!r}"
        raise RejectedActionError(f"the collector has no rejected event{of_reason}")
    return wanted


def _rows(context: ActionContext) -> Iterator[RejectedBody]:
    with closing(_spool(context)) as spool:
        for number, reason, detail, origin, size, whole in spool.execute(_ROWS).fetchall():
            # Of what one of our own senders found too large it sent the head, and no more.
            is_whole = size == whole and reason != _HEAD_ONLY
            yield RejectedBody(number, reason, detail, origin, is_whole)


def _body(context: ActionContext, number: int) -> bytes | None:
    with closing(_spool(context)) as spool:
        row = spool.execute(_BODY, (number,)).fetchone()
    return None if row is None else bytes(row[0])


def _spool(context: ActionContext) -> sqlite3.Connection:
    """Open the spool read-only: only the collector writes it."""
    if not context.spool.is_file():
        raise RejectedActionError(f"no spool at {context.spool}: run this where the collector runs")
    return sqlite3.connect(f"{context.spool.absolute().as_uri()}?mode=ro", uri=True, timeout=10)
