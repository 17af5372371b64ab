"""Notifications that a change of an incident brings."""

from collections.abc import Sequence
from typing import Final

import msgspec

from alerts.incidents.incident import Incident
from alerts.incidents.steps import EventKind, IncidentEvent
from alerts.notify import sentences
from alerts.notify.context import MEMBER_UPDATE_SECONDS, RoutingContext
from alerts.notify.first_notification import notify_owner, start_or_hold
from alerts.notify.notification_plan import NotificationPlan
from alerts.notify.notification_state import NotificationState
from alerts.notify.sentences import QUIET, describe_step
from lineage.process.clock import SECOND_MICROS

_OF_MEMBERS: Final[frozenset[EventKind]] = frozenset({"joined", "left"})


def plan_update(
    plan: NotificationPlan,
    incident: Incident,
    news: Sequence[IncidentEvent],
    context: RoutingContext,
    taken: Sequence[NotificationPlan],
) -> None:
    """Plan the notifications of one incident's step.

    Args:
        plan: with its new state already noted.
        incident: as it is now.
        news: its events.
        context: what else counts.
        taken: incidents that it took over in this step.
    """
    if incident.state == "resolved":
        _plan_resolved(plan, incident, news)
    elif incident.state == "suppressed":
        _plan_suppressed(plan, news)
    elif plan.state.is_notified:
        _adopt_pages(plan, context, taken)
        _plan_change(
            plan, news, context, is_already_notified=any(other.state.is_notified for other in taken)
        )
    else:
        _adopt_pages(plan, context, taken)
        start_or_hold(plan, context)


def _plan_resolved(
    plan: NotificationPlan, incident: Incident, news: Sequence[IncidentEvent]
) -> None:
    """Notify the end to every open channel; an incident without one ends silently."""
    changes = describe_step(news)
    note = sentences.merged(incident.merged_into, changes) if incident.merged_into else changes
    for channel_state in plan.state.open_channels:
        plan.close_channel(channel_state, "resolved", note)
    over = {"ended_at": plan.at, "hold_until": None, "repage_at": None, "notified_at": None}
    plan.update_state(**over, has_unsent_changes=False, is_confirmed=False)


def _plan_suppressed(plan: NotificationPlan, news: Sequence[IncidentEvent]) -> None:
    """Acknowledge in PagerDuty, which would go on paging, and notify the rest."""
    plan.update_state(repage_at=None, hold_until=None)
    if not any(event.what == "suppressed" for event in news):
        return
    for channel_state in plan.state.open_channels:
        plan.add(
            channel_state,
            "acknowledged" if channel_state.can_page else "changed",
            describe_step(news),
        )
    plan.update_state(last_notified_at=plan.at, has_unsent_changes=False)


def _plan_change(
    plan: NotificationPlan,
    news: Sequence[IncidentEvent],
    context: RoutingContext,
    *,
    is_already_notified: bool,
) -> None:
    whats = {event.what for event in news}
    if whats and whats <= QUIET:
        return
    if "handed_over" in whats or ("unsuppressed" in whats and _has_new_owner(plan, context)):
        _hand_over(plan, news, context, is_already_notified=is_already_notified)
    elif whats & {"reopened", "escalated", "unsuppressed"}:
        notify_owner(plan, context, "changed", describe_step(news))
        plan.notify_all("changed", describe_step(news))
    elif "acknowledged" in whats and plan.state.incident_state == "acknowledged":
        plan.update_state(repage_at=None)
        plan.notify_all("acknowledged", describe_step(news))
    elif whats <= _OF_MEMBERS and _was_just_notified(plan.state, plan.at):
        plan.update_state(has_unsent_changes=True)
    else:
        plan.notify_all("changed", describe_step(news))


def _has_new_owner(plan: NotificationPlan, context: RoutingContext) -> bool:
    """Return whether the owner changed while the incident was suppressed."""
    own = plan.state
    return context.address(own.owner, own.draft.severity).owner != own.addressee


def _was_just_notified(state: NotificationState, at: int) -> bool:
    return (
        state.last_notified_at is not None
        and at - state.last_notified_at < MEMBER_UPDATE_SECONDS * SECOND_MICROS
    )


def _hand_over(
    plan: NotificationPlan,
    news: Sequence[IncidentEvent],
    context: RoutingContext,
    *,
    is_already_notified: bool,
) -> None:
    """Close the alert of the first owner with the reason, and notify the new owner.

    If the new owner was paged for an incident that is now part of this one, that alert stays.
    """
    own = plan.state
    address = context.address(own.owner, own.draft.severity)
    for channel_state in own.open_channels:
        # The webhook for tickets is everybody's.
        if channel_state.channel not in {*address.channels, context.settings.tickets}:
            note = sentences.handed_over(address.owner, describe_step(news))
            plan.close_channel(channel_state, "handed_over", note)
    is_known = is_already_notified and any(event.is_owner_notified for event in news)
    notify_owner(plan, context, "changed" if is_known else "opened", describe_step(news))
    plan.notify_all("changed", describe_step(news))


def _adopt_pages(
    plan: NotificationPlan, context: RoutingContext, taken: Sequence[NotificationPlan]
) -> None:
    """Take over open pages of merged incidents under their own ids."""
    address = context.address(plan.state.owner, plan.state.draft.severity)
    for other in taken:
        if other.state.is_notified:
            plan.update_state(
                is_confirmed=True, revision=max(plan.state.revision, other.state.revision)
            )
        for channel_state in other.state.channels:
            here = plan.state.find_channel(channel_state.channel)
            is_ours = channel_state.channel in address.channels and not (here and here.is_open)
            if channel_state.can_page and channel_state.page_count and is_ours:
                plan.set_channel(msgspec.structs.replace(channel_state, role="owner"))
                other.set_channel(msgspec.structs.replace(channel_state, is_open=False))
