"""First notification of an incident, and whether it may page.

An owner who was not paged yet is paged at once, as long as owners got fewer than two pages for the
fault. A later page waits 15 minutes, and is sent only if the incident is still open and nobody
acknowledged; no owner gets a third one. Slack is notified meanwhile. An owner without any other
channel than PagerDuty does not wait.
"""

import msgspec

from alerts.notify import sentences
from alerts.notify.channels.registry import can_page
from alerts.notify.context import (
    CAP_SECONDS,
    MAX_PROMPT_OWNER_PAGES,
    MUTED_RECHECK_SECONDS,
    NO_CHANNEL_RECHECK_SECONDS,
    RoutingContext,
)
from alerts.notify.message import MessageKind
from alerts.notify.notification_plan import NotificationPlan
from alerts.notify.notification_state import ChannelState, NotificationRole
from lineage.process.clock import SECOND_MICROS
from lineage.states import PAGE


def start_or_hold(plan: NotificationPlan, context: RoutingContext) -> None:
    """Notify the owner, or hold it for Alertmanager, the digest or an outage."""
    if plan.state.is_for_digest:
        plan.update_state(hold_until=None)
        return
    until = _hold_until(plan, context)
    channels = _capped_channels(plan, context)
    if until > plan.at:
        plan.update_state(hold_until=until)
    elif channels and all(map(context.openings.is_full, channels)):
        plan.update_state(hold_until=plan.at + CAP_SECONDS * SECOND_MICROS)
        plan.held_back.extend(channels)
    else:
        for channel in channels:
            context.openings.add(channel)
        notify_owner(plan, context, "opened", "")


def _capped_channels(plan: NotificationPlan, context: RoutingContext) -> list[str]:
    """Return the channels of a ticket that people read; pages and webhooks have no cap."""
    own = plan.state
    if own.draft.severity == PAGE:
        return []
    channels = context.address(own.owner, own.draft.severity).channels
    return [each for each in channels if not can_page(each) and each != context.settings.tickets]


def _hold_until(plan: NotificationPlan, context: RoutingContext) -> int:
    own, settings = plan.state, context.settings
    if own.is_confirmed:  # Alertmanager knows what is muted
        return plan.at
    until = own.hold_until
    if until is None and settings.mode == "alertmanager":
        until = plan.at + settings.release_seconds * SECOND_MICROS
    if own.addressee and context.address(own.owner, own.draft.severity).channels:
        until = plan.at  # nobody could be notified before: the policy is another one
    if (until or 0) <= plan.at and context.is_muted(own):
        return plan.at + MUTED_RECHECK_SECONDS * SECOND_MICROS
    return until or plan.at


def notify_owner(
    plan: NotificationPlan, context: RoutingContext, kind: MessageKind, note: str
) -> None:
    """Notify all channels of the owner who can fix the root."""
    address = context.address(plan.state.owner, plan.state.draft.severity)
    plan.update_state(addressee=address.owner, note=address.note, repage_at=None)
    if address.problem:
        plan.without_recipient.append(address.problem)
    if not address.channels:
        plan.update_state(hold_until=plan.at + NO_CHANNEL_RECHECK_SECONDS * SECOND_MICROS)
        return
    plan.update_state(
        notified_at=plan.at, last_notified_at=plan.at, has_unsent_changes=False, hold_until=None
    )
    text = sentences.join_sentences(address.note, note)
    must_page = all(map(can_page, address.channels))
    for channel in address.channels:
        notify_channel(plan, context, channel, kind, text, must_page=must_page)


def notify_channel(  # noqa: PLR0913 - each is another thing that decides
    plan: NotificationPlan,
    context: RoutingContext,
    channel: str,
    kind: MessageKind,
    note: str,
    *,
    role: NotificationRole = "owner",
    must_page: bool = False,
) -> None:
    """Open a channel, or page later if it would page a person twice.

    With `must_page` it pages at once: there is no other channel, or a person requested the page.
    """
    channel_state = plan.state.find_channel(channel) or ChannelState(
        channel, role, plan.state.incident_id, is_open=False
    )
    if channel_state.is_open:
        plan.set_channel(
            msgspec.structs.replace(channel_state, role=_merge_roles(channel_state.role, role))
        )
        plan.add(channel_state, "changed", note)
    elif not channel_state.can_page:
        plan.open_channel(channel, role, kind, note)
    elif must_page or _can_page_again(plan, channel_state, role):
        plan.open_channel(channel, role, "opened", note)
    elif role == "owner" and plan.state.incident_state == "open":
        plan.set_channel(channel_state)
        plan.update_state(repage_at=plan.at + context.settings.again_seconds * SECOND_MICROS)


def _can_page_again(
    plan: NotificationPlan, channel_state: ChannelState, role: NotificationRole
) -> bool:
    """Return whether the channel never paged, and owners got fewer than two pages."""
    if channel_state.page_count or plan.state.incident_state != "open":
        return False
    return role == "step" or plan.state.owner_page_count < MAX_PROMPT_OWNER_PAGES


def _merge_roles(one: NotificationRole, other: NotificationRole) -> NotificationRole:
    return "owner" if "owner" in {one, other} else "step"


def repage(plan: NotificationPlan, context: RoutingContext) -> None:
    """Page once more: the fault came back, stayed, and is not acknowledged."""
    own = plan.state
    plan.update_state(repage_at=None)
    address = context.address(own.owner, own.draft.severity)
    if own.incident_state != "open":
        return
    for channel in address.channels:
        channel_state = own.find_channel(channel) or ChannelState(
            channel, "owner", own.incident_id, is_open=False
        )
        if (
            channel_state.can_page
            and not channel_state.is_open
            and (not channel_state.page_count or own.owner_page_count < MAX_PROMPT_OWNER_PAGES)
        ):
            note = sentences.bad_again(context.settings.again_seconds // 60)
            plan.open_channel(channel, "owner", "opened", sentences.join_sentences(own.note, note))
