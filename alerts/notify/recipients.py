"""Recipients: the channels of an owner, or of the platform owner in its place.

A page goes to all channels of its owner. A ticket goes to those that page nobody, and to the
webhook of tickets.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from alerts.notify import sentences
from alerts.notify.channels.registry import can_page, contact_channels
from alerts.notify.message import Severity
from alerts.notify.settings import RoutingSettings
from lineage.policy.model import EscalationStep, Owner, Policy

NO_PLATFORM: Final = "no_platform"
NO_CHANNEL: Final = "no_way"


class Recipient(msgspec.Struct, frozen=True):
    """Owner that is notified, and its channels.

    Attributes:
        owner: the root's owner, or the platform's.
        channels: by name; empty: there is no way to anybody.
        note: why it is not the root's owner.
        problem: a word for what the policy lacks, to be counted; empty: nothing.
    """

    owner: str
    channels: tuple[str, ...]
    note: str = ""
    problem: str = ""


def find_owner(policy: Policy, name: str | None) -> Owner | None:
    """Return an owner of the policy; None: the policy does not have it."""
    return next((owner for owner in policy.owners if owner.name == name), None)


def recipient_of(
    policy: Policy, settings: RoutingSettings, owner: str | None, severity: Severity
) -> Recipient:
    """Return who is notified for the owner of a root."""
    own = find_owner(policy, owner)
    channels = channels_of(own, severity, settings)
    if own is not None and channels:
        return Recipient(own.name, channels)
    note = _explain(owner, own, severity)
    platform = find_owner(policy, settings.platform)
    instead = channels_of(platform, severity, settings)
    if instead:
        return Recipient(settings.platform, instead, note)
    return _fallback_recipient(settings, severity, note)


def channels_of(
    owner: Owner | None, severity: Severity, settings: RoutingSettings
) -> tuple[str, ...]:
    """Return an owner's channels for a page or for a ticket; none if the owner has no channel."""
    every = () if owner is None else contact_channels(owner)
    if not every or severity == "page":
        return every
    tickets = () if settings.tickets is None else (settings.tickets,)
    return (*_quiet(every), *tickets)


def channels_of_step(
    policy: Policy, settings: RoutingSettings, step: EscalationStep
) -> tuple[str, ...]:
    """Return the channels that a step of an escalation names."""
    own = channels_of(find_owner(policy, step.owner), "page", settings)
    return tuple(dict.fromkeys((*own, *contact_channels(step))))


def unclaimed_entries(policy: Policy) -> list[str]:
    """Return the entries of `notify` that no type of channel knows."""
    steps = (step for owner in policy.owners for step in owner.escalation)
    lists = [*(owner.notify for owner in policy.owners), *(step.notify for step in steps)]
    entries = dict.fromkeys(entry for each in lists for entry in each)
    return [each for each in entries if not contact_channels(EscalationStep(0, notify=(each,)))]


def notice_channel(policy: Policy, name: str) -> str | None:
    """Return the channel in which an owner reads notices; None: the owner has none."""
    owner = find_owner(policy, name)
    quiet = () if owner is None else _quiet(contact_channels(owner))
    return quiet[0] if quiet else None


def _quiet(channels: Iterable[str]) -> tuple[str, ...]:
    return tuple(each for each in channels if not can_page(each))


def _explain(owner: str | None, known: Owner | None, severity: Severity) -> str:
    if owner is None:
        return sentences.UNOWNED
    if known is None:
        return sentences.unknown_owner(owner)
    return sentences.unreachable_owner(owner, severity)


def _fallback_recipient(settings: RoutingSettings, severity: Severity, note: str) -> Recipient:
    """Return the fallback channel: the policy names nobody who can be notified."""
    tickets = settings.tickets if severity == "ticket" else None
    channels = tuple(filter(None, (settings.fallback, tickets)))
    reason = sentences.no_platform_owner(note, settings.platform)
    problem = NO_PLATFORM if channels else NO_CHANNEL
    return Recipient(settings.platform, tuple(dict.fromkeys(channels)), reason, problem)
