"""Notices to owners downstream: one at first, then at most hourly for datasets that join."""

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from alerts.incidents.affected_datasets import MAX_LISTED
from alerts.incidents.steps import IncidentEvent
from alerts.notify import sentences
from alerts.notify.context import RoutingContext, notice_at
from alerts.notify.incident_summary import IncidentSummary, OwnerImpact
from alerts.notify.message import Impacted
from alerts.notify.notification_plan import NotificationPlan
from alerts.notify.notification_state import DownstreamNotice
from alerts.notify.recipients import notice_channel
from lineage.states import TIER_RANKS


def refresh(
    plan: NotificationPlan,
    summary: IncidentSummary,
    news: Iterable[IncidentEvent],
    context: RoutingContext,
) -> None:
    """Update the notices to the present impact; they are sent when the owner is notified."""
    joined = {key for event in news if event.what == "joined" for key in event.members}
    before = {notice.channel: notice for notice in plan.state.notices}
    found = _by_channel(plan, summary, context)
    fresh = [
        _build_notice(channel, owners, before.get(channel), joined)
        for channel, owners in sorted(found.items())
    ]
    gone = [notice for channel, notice in before.items() if channel not in found]
    kept = [msgspec.structs.replace(each, is_due=False) for each in gone if each.notified_at]
    plan.update_state(notices=(*fresh, *kept))


def _by_channel(
    plan: NotificationPlan, summary: IncidentSummary, context: RoutingContext
) -> dict[str, list[tuple[str, OwnerImpact]]]:
    """Group the impact by channel; the platform owner gets no notices."""
    own, found = plan.state, defaultdict(list)
    never = {own.owner, own.addressee, context.settings.platform}
    for owner, theirs in sorted(summary.by_owner.items()):
        channel = (
            None if owner in never or not theirs.count else notice_channel(context.policy, owner)
        )
        if channel is not None:
            found[channel].append((owner, theirs))
    return found


def _build_notice(
    channel: str,
    owners: list[tuple[str, OwnerImpact]],
    before: DownstreamNotice | None,
    joined: set[int],
) -> DownstreamNotice:
    """Merge the owners that share a channel into one notice."""
    every = [theirs for _, theirs in owners]
    notified_at = None if before is None else before.notified_at
    is_new = any(joined & theirs.keys for theirs in every)
    return DownstreamNotice(
        channel=channel,
        owners=tuple(owner for owner, _ in owners),
        impacted=_most_severe(theirs.impacted for theirs in every),
        count=sum(theirs.count for theirs in every),
        tiers=_sum_tiers(theirs.tiers for theirs in every),
        notified_at=notified_at,
        is_due=notified_at is None or is_new or (before is not None and before.is_due),
    )


def _most_severe(impacted: Iterable[tuple[Impacted, ...]]) -> tuple[Impacted, ...]:
    every = (each for own in impacted for each in own)
    return tuple(sorted(every, key=lambda each: _rank(each.tier)))[:MAX_LISTED]


def _rank(tier: str) -> int:
    return TIER_RANKS.get(tier, len(TIER_RANKS))


def _sum_tiers(tiers: Iterable[tuple[tuple[str, int], ...]]) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = defaultdict(int)
    for tier, count in (each for own in tiers for each in own):
        counts[tier] += count
    return tuple(sorted(counts.items(), key=lambda each: _rank(each[0])))


def add_due(plan: NotificationPlan) -> None:
    """Notify the owners downstream.

    A gap that always stood notifies none. Nor does a failed run while no dataset is affected and
    its deadline can be met.
    """
    own = plan.state
    is_minor = (own.is_standing or own.is_early) and own.draft.severity == "ticket"
    if not own.is_notified or not own.is_bad or is_minor:
        return
    notified = {channel_state.channel for channel_state in own.channels}
    notices = [_add(plan, each) if _is_due(plan, each, notified) else each for each in own.notices]
    plan.update_state(notices=tuple(notices))


def _is_due(plan: NotificationPlan, notice: DownstreamNotice, notified: set[str]) -> bool:
    if not notice.is_due or notice.channel in notified:
        return False
    return notice_at(plan.state, notice.notified_at) <= plan.at


def _add(plan: NotificationPlan, notice: DownstreamNotice) -> DownstreamNotice:
    note = sentences.downstream(notice.owners, plan.state.addressee, notice.impacted)
    plan.add_notice(notice, note)
    return msgspec.structs.replace(notice, notified_at=plan.at, is_due=False)
