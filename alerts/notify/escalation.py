"""Escalation of unacknowledged pages: each step once."""

from typing import Final

from alerts.notify import sentences
from alerts.notify.channels.registry import can_page
from alerts.notify.context import RoutingContext, escalation_at
from alerts.notify.first_notification import notify_channel
from alerts.notify.notification_plan import NotificationPlan, TakenStep
from alerts.notify.recipients import NO_CHANNEL, channels_of_step
from lineage.policy.model import EscalationStep

_PLATFORM: Final = -1  # the position of what no policy needs to say


def escalate_due(plan: NotificationPlan, context: RoutingContext) -> None:
    """Take every step that is due, in order."""
    for number, step in context.steps(plan.state):
        due = escalation_at(plan.state, step)
        if due is not None and due <= plan.at:
            _escalate(plan, context, (number, step), sentences.not_acknowledged(step.after_minutes))


def escalate_now(plan: NotificationPlan, context: RoutingContext, by: str) -> bool:
    """Take the next step that has a channel on request; after the last, page the platform owner.

    The request pages the step also after an acknowledgement, and if its alert has ended.

    Returns:
        Whether a step was taken: not if no step with a channel is left, or if nobody was notified
        yet. The person must know that nobody was called.
    """
    if not plan.state.is_notified or not plan.state.is_bad:
        return False
    steps = sorted(context.steps(plan.state), key=lambda each: each[1].after_minutes)
    last = (_PLATFORM, EscalationStep(0, owner=context.settings.platform))
    own = plan.state.addressee
    if own != context.settings.platform and (own, _PLATFORM) not in plan.state.steps:
        steps.append(last)
    left = [each for each in steps if channels_of_step(context.policy, context.settings, each[1])]
    if left:
        why = sentences.requested_by(by)
        _escalate(plan, context, left[0], why, is_requested=True)
    return bool(left)


def _escalate(
    plan: NotificationPlan,
    context: RoutingContext,
    numbered: tuple[int, EscalationStep],
    why: str,
    *,
    is_requested: bool = False,
) -> None:
    number, step = numbered
    own = plan.state
    channels = channels_of_step(context.policy, context.settings, step)
    if not channels:
        plan.without_recipient.append(NO_CHANNEL)
    whom = step.owner or ", ".join(channels)
    note = sentences.escalated_from(own.addressee, why)
    # People acknowledge first and escalate then: their request pages in both states.
    must_page = is_requested or all(map(can_page, channels))
    for channel in channels:
        notify_channel(plan, context, channel, "opened", note, role="step", must_page=must_page)
    note_to = sentences.escalated_to if channels else sentences.escalation_failed
    plan.notify_all("changed", note_to(whom, why))
    plan.update_state(steps=(*own.steps, (own.addressee, number)))
    plan.taken_steps.append(TakenStep(own.incident_id, own.addressee, number, channels))
