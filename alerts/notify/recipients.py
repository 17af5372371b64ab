"""Through which channels an owner is told; whoever owns nothing that can be reached, the platform.

A page rings PagerDuty and stands in Slack. A ticket stands in Slack and goes to the webhook for
tickets: nobody is rung for one.
"""

from typing import Final

import msgspec

from alerts.notify.message import Severity
from alerts.notify.settings import RoutingSettings
from lineage.policy.model import EscalationStep, Owner, Policy

SLACK: Final = "slack:"
PAGERDUTY: Final = "pagerduty:"
WEBHOOK: Final = "webhook:"

NO_PLATFORM: Final = "no_platform"
NO_CHANNEL: Final = "no_way"


class Recipient(msgspec.Struct, frozen=True):
    """Who is told, and how.

    Attributes:
        owner: who is told: the root's owner, or the platform's.
        channels: by name; empty: there is no way to anybody.
        note: why it is not the root's owner.
        gap: a word for what the policy lacks so badly that it has to be counted; empty: nothing.
    """

    owner: str
    channels: tuple[str, ...]
    note: str = ""
    gap: str = ""


def find_owner(policy: Policy, name: str | None) -> Owner | None:
    """As the policy knows it."""
    return next((owner for owner in policy.owners if owner.name == name), None)


def recipient_of(
    policy: Policy, settings: RoutingSettings, owner: str | None, severity: Severity
) -> Recipient:
    """Of the owner of a root."""
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
    """An owner's channels for a page, or for a ticket; none where there is nobody behind them."""
    if owner is None or not (owner.slack or owner.pagerduty_key_file):
        return ()
    if severity == "page":
        return _named(owner.slack, owner.pagerduty_key_file)
    tickets = () if settings.tickets is None else (settings.tickets,)
    return (*_named(owner.slack, None), *tickets)


def channels_of_step(
    policy: Policy, settings: RoutingSettings, step: EscalationStep
) -> tuple[str, ...]:
    """Whom a step of an escalation names."""
    own = channels_of(find_owner(policy, step.owner), "page", settings)
    return tuple(dict.fromkeys((*own, *_named(step.slack, step.pagerduty_key_file))))


def notice_channel(policy: Policy, name: str) -> str | None:
    """The Slack channel of an owner."""
    owner = find_owner(policy, name)
    return None if owner is None or not owner.slack else SLACK + owner.slack


def _named(slack: str | None, key_file: str | None) -> tuple[str, ...]:
    found = (slack and SLACK + slack, key_file and PAGERDUTY + key_file)
    return tuple(channel for channel in found if channel)


def _explain(owner: str | None, known: Owner | None, severity: Severity) -> str:
    if owner is None:
        return "Nobody owns it."
    if known is None:
        return f"Nobody owns it: the policy knows no owner called {owner}."
    return f"Its owner {owner} has no channel for a {severity}."


def _fallback_recipient(settings: RoutingSettings, severity: Severity, note: str) -> Recipient:
    """Nobody of the policy can be told: said so, and counted."""
    tickets = settings.tickets if severity == "ticket" else None
    channels = tuple(filter(None, (settings.fallback, tickets)))
    said = f"{note} The policy has no owner {settings.platform} with a channel for it either."
    gap = NO_PLATFORM if channels else NO_CHANNEL
    return Recipient(settings.platform, tuple(dict.fromkeys(channels)), said, gap)
