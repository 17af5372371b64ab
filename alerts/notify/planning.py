"""Decisions: who is notified after a step, when time has passed, or by Alertmanager. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from alerts.incidents.steps import IncidentEvent, StepResult
from alerts.notify import downstream_notices, sentences
from alerts.notify.context import MEMBER_UPDATE_SECONDS, RoutingContext, is_muting
from alerts.notify.escalation import escalate_due
from alerts.notify.first_notification import repage, start_or_hold
from alerts.notify.incident_summary import IncidentSummary
from alerts.notify.message_draft import refresh_message
from alerts.notify.notification_plan import Notification, NotificationPlan, TakenStep
from alerts.notify.notification_state import NotificationState
from alerts.notify.settings import RoutingSettings
from alerts.notify.updates import plan_update
from lineage.process.clock import SECOND_MICROS

# No incident that nobody was notified of waits longer.
LONGEST_WAIT: Final = 3_600 * SECOND_MICROS


class RoutingResult(msgspec.Struct, frozen=True):
    """Notifications to send, and the states after them.

    Attributes:
        notifications: in the order in which they are stored in the outbox.
        states: those that changed.
        taken_steps: steps that were taken.
        without_recipient: a reason for each time that the policy named nobody to notify.
        held_back: a channel for each ticket that is over its cap.
    """

    notifications: tuple[Notification, ...] = ()
    states: tuple[NotificationState, ...] = ()
    taken_steps: tuple[TakenStep, ...] = ()
    without_recipient: tuple[str, ...] = ()
    held_back: tuple[str, ...] = ()


def plan_step(  # noqa: PLR0913 - each is another thing that decides
    step: StepResult,
    summaries: Mapping[str, IncidentSummary],
    states: Mapping[str, NotificationState],
    context: RoutingContext,
    at: int,
    *,
    alerts: Mapping[str, Sequence[NotificationPlan]] | None = None,
) -> RoutingResult:
    """Return what a step of the incidents' lives brings.

    Args:
        step: what changed.
        summaries: by incident id, of what changed.
        states: of the incidents that changed, by incident id.
        context: the policy, the settings, and the outages before this step.
        at: µs.
        alerts: plans of alerts that duplicate an incident, by incident id.
    """
    news = _group_events(step.events)
    plans = {
        own.id: NotificationPlan(
            refresh_message(
                states.get(own.id),
                own,
                summaries.get(own.id),
                context.settings,
                context.policy.time_zone,
            ),
            at,
        )
        for own in step.changed
    }
    now = _with_outages(context, plans.values())
    taken = {own.id: own.merged_into for own in step.changed if own.merged_into}
    # Who takes over goes first: what it keeps of the other must not end with that.
    for own in sorted(step.changed, key=lambda each: each.id in taken):
        plan = plans[own.id]
        if (summary := summaries.get(own.id)) is not None:
            downstream_notices.refresh(plan, summary, news.get(own.id, ()), now)
        others = [plans[each] for each, into in taken.items() if into == own.id]
        stand_ins = (alerts or {}).get(own.id, ())
        plan_update(plan, own, news.get(own.id, ()), now, [*others, *stand_ins])
        downstream_notices.add_due(plan)
        _close_alert_channels(stand_ins, plan)
    found = collect_result(plans.values())
    ended = collect_result(plan for each in (alerts or {}).values() for plan in each)
    return msgspec.structs.replace(
        found, notifications=(*found.notifications, *ended.notifications)
    )


def _close_alert_channels(stand_ins: Iterable[NotificationPlan], plan: NotificationPlan) -> None:
    """Close the channels of an alert that its incident did not take over."""
    for each in stand_ins if plan.state.is_notified else ():
        for channel_state in each.state.open_channels:
            each.close_channel(
                channel_state, "resolved", sentences.is_incident(plan.state.incident_id)
            )


def plan_due(
    states: Iterable[NotificationState], context: RoutingContext, at: int
) -> RoutingResult:
    """Return what is due: held notifications, pages, updates, notices, escalation."""
    plans = [NotificationPlan(correct_state(state, at, context.settings), at) for state in states]
    for plan in plans:
        if plan.state.is_bad:
            _plan_due_one(plan, context)
    return collect_result(plans)


def plan_confirmed(
    states: Iterable[NotificationState], context: RoutingContext, at: int
) -> RoutingResult:
    """Return what is due for the incidents that Alertmanager named."""
    plans = [NotificationPlan(state, at) for state in states]
    for plan in plans:
        plan.update_state(is_confirmed=True)
        if plan.state.is_bad and not plan.state.is_notified:
            start_or_hold(plan, context)
            downstream_notices.add_due(plan)
    return collect_result(plans)


def collect_result(plans: Iterable[NotificationPlan]) -> RoutingResult:
    """Return the plans together."""
    every = tuple(plans)
    return RoutingResult(
        tuple(outgoing for plan in every for outgoing in plan.notifications),
        tuple(plan.state for plan in every),
        tuple(each for plan in every for each in plan.taken_steps),
        tuple(reason for plan in every for reason in plan.without_recipient),
        tuple(channel for plan in every for channel in plan.held_back),
    )


def _plan_due_one(plan: NotificationPlan, context: RoutingContext) -> None:
    own = plan.state
    if not own.is_notified:
        start_or_hold(plan, context)
    if own.repage_at is not None and own.repage_at <= plan.at:
        repage(plan, context)
    escalate_due(plan, context)
    if (
        own.has_unsent_changes
        and plan.at - (own.last_notified_at or 0) >= MEMBER_UPDATE_SECONDS * SECOND_MICROS
    ):
        plan.notify_all("changed", sentences.MEMBERS_CHANGED)
    downstream_notices.add_due(plan)


def _group_events(events: Iterable[IncidentEvent]) -> dict[str, tuple[IncidentEvent, ...]]:
    found: dict[str, tuple[IncidentEvent, ...]] = {}
    for event in events:
        found[event.incident_id] = (*found.get(event.incident_id, ()), event)
    return found


def _with_outages(context: RoutingContext, plans: Iterable[NotificationPlan]) -> RoutingContext:
    outages = set(context.outages)
    for plan in plans:
        own = plan.state
        (outages.add if is_muting(own) else outages.discard)(own.incident_id)
    return msgspec.structs.replace(context, outages=frozenset(outages))


def correct_state(
    state: NotificationState, at: int, settings: RoutingSettings
) -> NotificationState:
    """Return the state with times ahead of `at` set to `at`; escalation counts from now."""
    limits = {"notified_at": at, "last_notified_at": at}
    for name, seconds in (
        ("hold_until", settings.release_seconds),
        ("repage_at", settings.again_seconds),
    ):
        limits[name] = at + max(LONGEST_WAIT, int(seconds * SECOND_MICROS))
    changes = {
        name: at
        for name, limit in limits.items()
        if (value := getattr(state, name)) is not None and value > limit
    }
    return replace(state, **changes) if changes else state
