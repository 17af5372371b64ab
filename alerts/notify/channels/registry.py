"""Registry of the types of channel. A new type is a folder beside these, and one name here."""

from typing import Final

from alerts.notify.channels.apprise.channel import Apprise
from alerts.notify.channels.channel import Channel, Contact
from alerts.notify.channels.pagerduty.channel import PagerDuty
from alerts.notify.channels.slack.channel import Slack
from alerts.notify.channels.webhook.channel import Webhook
from alerts.notify.settings import DeliverySettings
from lineage.process.clock import Clock, system_clock

# In the order in which a contact's channels are notified.
CHANNEL_TYPES: Final[tuple[type[Channel], ...]] = (Slack, PagerDuty, Apprise, Webhook)

_BY_KIND: Final = {each.kind: each for each in CHANNEL_TYPES}


def find_type(channel: str) -> type[Channel] | None:
    """Return the type of a channel by its name; None: no such type is registered."""
    return _BY_KIND.get(channel.partition(":")[0])


def can_page(channel: str) -> bool:
    """Return whether a channel pages a person."""
    known = find_type(channel)
    return known is not None and known.can_page


def required_settings(channel: str) -> tuple[str, ...]:
    """Return the environment variables that a channel needs, by its name."""
    known = find_type(channel)
    return () if known is None else known.required_settings


def contact_channels(contact: Contact) -> tuple[str, ...]:
    """Return the names of all channels of an owner or of a step of an escalation."""
    return tuple(name for each in CHANNEL_TYPES for name in each.channels_of(contact))


def build_channels(
    settings: DeliverySettings, *, clock: Clock = system_clock
) -> dict[str, Channel]:
    """Return the configured types of channel by their kind."""
    built = ((each.kind, each.from_settings(settings, clock)) for each in CHANNEL_TYPES)
    return {kind: channel for kind, channel in built if channel is not None}
