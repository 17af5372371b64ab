"""Owners downstream: told once of theirs, in Slack, and again only of what joins, hourly."""

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from alerts.incidents.steps import Event
from alerts.notify.context import Scene, notice_at
from alerts.notify.formatting import moment
from alerts.notify.incident_summary import Picture, Theirs
from alerts.notify.message import MAX_LISTED, Impacted
from alerts.notify.notification_plan import Sheet
from alerts.notify.notification_state import Notice
from alerts.notify.recipients import slack_of
from lineage.states import TIER_RANKS


def prepare(sheet: Sheet, picture: Picture, news: Iterable[Event], scene: Scene) -> None:
    """Take over what is downstream now; it is told when the incident is."""
    joined = {key for event in news if event.what == "joined" for key in event.members}
    before = {notice.channel: notice for notice in sheet.telling.notices}
    found = _by_channel(sheet, picture, scene)
    fresh = [
        _noticed(channel, owners, before.get(channel), joined)
        for channel, owners in sorted(found.items())
    ]
    gone = [notice for channel, notice in before.items() if channel not in found]
    kept = [msgspec.structs.replace(each, is_due=False) for each in gone if each.told_at]
    sheet.note(notices=(*fresh, *kept))


def _by_channel(
    sheet: Sheet, picture: Picture, scene: Scene
) -> dict[str, list[tuple[str, Theirs]]]:
    """The platform's team hears of its own faults and of what escalated, not of this."""
    own, found = sheet.telling, defaultdict(list)
    never = {own.owner, own.addressee, scene.settings.platform}
    for owner, theirs in sorted(picture.by_owner.items()):
        channel = None if owner in never or not theirs.count else slack_of(scene.policy, owner)
        if channel is not None:
            found[channel].append((owner, theirs))
    return found


def _noticed(
    channel: str, owners: list[tuple[str, Theirs]], before: Notice | None, joined: set[int]
) -> Notice:
    """Teams that share a channel are told together."""
    every = [theirs for _, theirs in owners]
    told_at = None if before is None else before.told_at
    is_new = any(joined & theirs.keys for theirs in every)
    return Notice(
        channel=channel,
        owners=tuple(owner for owner, _ in owners),
        impacted=_gravest(theirs.impacted for theirs in every),
        count=sum(theirs.count for theirs in every),
        tiers=_summed(theirs.tiers for theirs in every),
        told_at=told_at,
        is_due=told_at is None or is_new or (before is not None and before.is_due),
    )


def _gravest(impacted: Iterable[tuple[Impacted, ...]]) -> tuple[Impacted, ...]:
    every = (each for own in impacted for each in own)
    return tuple(sorted(every, key=lambda each: _rank(each.tier)))[:MAX_LISTED]


def _rank(tier: str) -> int:
    return TIER_RANKS.get(tier, len(TIER_RANKS))


def _summed(tiers: Iterable[tuple[tuple[str, int], ...]]) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = defaultdict(int)
    for tier, count in (each for own in tiers for each in own):
        counts[tier] += count
    return tuple(sorted(counts.items(), key=lambda each: _rank(each[0])))


def give(sheet: Sheet) -> None:
    """Notify the owners downstream.

    A gap that always stood notifies none. Nor does a failed run while no dataset is affected and
    its deadline can be met.
    """
    own = sheet.telling
    is_minor = (own.is_standing or own.is_early) and own.draft.severity == "ticket"
    if not own.is_told or not own.is_bad or is_minor:
        return
    told = {place.channel for place in own.places}
    notices = [_given(sheet, each) if _is_due(sheet, each, told) else each for each in own.notices]
    sheet.note(notices=tuple(notices))


def _is_due(sheet: Sheet, notice: Notice, told: set[str]) -> bool:
    if not notice.is_due or notice.channel in told:
        return False
    return notice_at(sheet.telling, notice.told_at) <= sheet.at


def _given(sheet: Sheet, notice: Notice) -> Notice:
    addressee = sheet.telling.addressee
    owners = ", ".join(notice.owners)
    said = f"Datasets of {owners} are downstream. {addressee} was notified to fix the root."
    sheet.give_notice(notice, f"{said}{_first_limit(notice.impacted)}")
    return msgspec.structs.replace(notice, told_at=sheet.at, is_due=False)


def _first_limit(impacted: tuple[Impacted, ...]) -> str:
    limits = [each.limit_at for each in impacted if each.limit_at is not None]
    return f" The first limit is {moment(min(limits))}." if limits else ""
