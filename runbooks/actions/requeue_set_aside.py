"""Action that posts set-aside events again, once the cause of their failure is fixed."""

from collections import Counter
from typing import Annotated, Final

import msgspec
from msgspec import Meta
from sqlalchemy import select

from lineage.catalog.engine import write_transaction
from lineage.catalog.rows import convert_rows
from lineage.catalog.tables import event_requeue, event_set_aside
from lineage.catalog.upsert import fold_rows
from lineage.process.clock import from_micros, instant_text
from runbooks.actions.action import ActionContext, ActionPlan, Done
from runbooks.actions.errors import InvalidActionError, RejectedActionError
from runbooks.actions.lake_events import event_body

_MOST_SHOWN: Final = 5


class RequeueSetAside(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Events that were set aside: all not posted again yet, or those of these numbers."""

    numbers: Annotated[tuple[int, ...], Meta(max_length=1_000)] = ()


class RequeuedEvent(msgspec.Struct, frozen=True):
    """Event that was set aside; `number`: its place in the spool."""

    number: int
    origin: str
    error: str
    received_at: int
    failed_at: int


def plan(asked: RequeueSetAside, context: ActionContext) -> ActionPlan:
    """Say which events would be posted, by the error that they failed by.

    Raises:
        InvalidActionError: an event of this number was not set aside, or was posted again.
        RejectedActionError: no event is set aside.
    """
    found = _kept(asked, context)
    counts = Counter(one.error for one in found)
    newest = {one.error: one for one in found}
    errors = [
        f"{count:,}: {error[:200]}; the newest is #{newest[error].number} of "
        f"{instant_text(newest[error].failed_at)}"
        for error, count in counts.most_common()
    ]
    return ActionPlan(
        does=(f"post {len(found):,} events again that were set aside", *errors),
        figures={"events": len(found)},
        cautions=("an event that fails again is set aside again, under a new number",),
    )


def perform(asked: RequeueSetAside, context: ActionContext) -> Done:
    """Post the events, in the order in which they came.

    Raises:
        FailedActionError: the collector went away; the same call again goes on.
    """
    posted, failed = 0, list[str]()
    for one in _kept(asked, context):
        reason = _posted(one, context)
        if reason is None:
            posted += 1
            _note(one.number, context)
        else:
            failed.append(f"#{one.number}: {reason}")
    did = (f"{posted:,} were accepted, {len(failed):,} were not", *failed[:_MOST_SHOWN])
    figures = {"accepted": posted, "failed": len(failed)}
    return Done(did=did, figures=figures, is_whole=not failed)


def _posted(one: RequeuedEvent, context: ActionContext) -> str | None:
    """Return why the event was not accepted; None: it was."""
    body = event_body(context, one.number, from_micros(one.received_at).date())
    if body is None:
        return "its body is no longer in the lake"
    rejected = context.collector.post([_as_another(body)], one.origin)
    return rejected[0] if rejected else None


def _as_another(body: bytes) -> bytes:
    """Return the same event in other bytes: the spool takes a body once while it holds it."""
    return body.replace(b"{", b"{ ", 1)


def _note(number: int, context: ActionContext) -> None:
    with write_transaction(context.engine) as connection:
        row = {"spool_seq": number, "requested_at": context.now}
        fold_rows(connection, event_requeue, [row])


def _kept(asked: RequeueSetAside, context: ActionContext) -> list[RequeuedEvent]:
    found = _waiting(context)
    if unknown := sorted(set(asked.numbers) - {one.number for one in found}):
        raise InvalidActionError(f"#{unknown[0]}: not set aside, or posted again already")
    wanted = [one for one in found if not asked.numbers or one.number in asked.numbers]
    if not wanted:
        raise RejectedActionError("no event is set aside")
    return wanted


def _waiting(context: ActionContext) -> list[RequeuedEvent]:
    names = ("origin", "error", "received_at", "failed_at")
    number = event_set_aside.c.spool_seq
    is_posted = select(event_requeue.c.spool_seq)
    waiting = (
        select(number.label("number"), *(event_set_aside.c[name] for name in names))
        .where(number.not_in(is_posted))
        .order_by(number)
    )
    with context.engine.connect() as connection:
        return convert_rows(RequeuedEvent, connection.execute(waiting))
