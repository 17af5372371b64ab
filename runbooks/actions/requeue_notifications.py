"""Action that sends notifications again that a channel rejected, say with a new token."""

from typing import Annotated

import msgspec
from msgspec import Meta

from alerts.notify.outbox import count_failed, failed_channels, requeue
from lineage.catalog.engine import write_transaction
from runbooks.actions.action import ActionContext, ActionPlan, Done
from runbooks.actions.errors import RejectedActionError


class RequeueNotifications(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Failed notifications of one channel, as `slack:C0123ABCD`."""

    channel: Annotated[str, Meta(min_length=3, max_length=500)]


def plan(asked: RequeueNotifications, context: ActionContext) -> ActionPlan:
    """Count the notifications that would be sent again.

    Raises:
        RejectedActionError: the channel has none; the text names those that have.
    """
    with context.engine.connect() as connection:
        count = count_failed(connection, asked.channel)
        others = failed_channels(connection)
    if not count:
        known = ", ".join(others) or "no channel has one"
        message = f"{asked.channel}: no failed notification to send again; failed are: {known}"
        raise RejectedActionError(message)
    return ActionPlan(
        does=(f"send {count:,} failed notifications of {asked.channel} again",),
        figures={"notifications": count},
        cautions=(
            "of each incident the newest is sent: it has its present state",
            "PagerDuty pages for an incident that is still open and was never paged",
        ),
    )


def perform(asked: RequeueNotifications, context: ActionContext) -> Done:
    """Make them due now.

    Raises:
        RejectedActionError: as `plan`.
    """
    plan(asked, context)
    with write_transaction(context.engine) as connection:
        count = requeue(connection, asked.channel, context.now)
    return Done(
        did=(f"{count:,} notifications of {asked.channel} are due now",),
        figures={"notifications": count},
    )
