"""Cap on new tickets of a channel in an hour: a storm would bury the one that matters."""

from collections.abc import Callable, Mapping
from typing import Final

from alerts.notify import sentences
from alerts.notify.links import full_list
from alerts.notify.message import Message, MessageLinks, MessageRoot
from alerts.notify.notification_plan import Notification
from alerts.notify.settings import RoutingSettings
from lineage.names import keys
from lineage.process.clock import from_micros

MAX_TICKETS: Final = 20  # about as many as people read; Slack takes one message a second


class TicketCaps:
    """New tickets of each channel in the last hour, with those of the present decision."""

    def __init__(self, count: Callable[[str], int] = lambda _: 0) -> None:
        self._count = count
        self._known: dict[str, int] = {}

    def is_full(self, channel: str) -> bool:
        """Return whether the channel has had as many as it gets in an hour."""
        return self._of(channel) >= MAX_TICKETS

    def add(self, channel: str) -> None:
        """Count one more."""
        self._known[channel] = self._of(channel) + 1

    def _of(self, channel: str) -> int:
        if channel not in self._known:
            self._known[channel] = self._count(channel)
        return self._known[channel]


def build_held_notices(
    held: Mapping[str, int], settings: RoutingSettings, at: int
) -> list[Notification]:
    """Return a message for each channel with tickets held back; the outbox takes one an hour."""
    return [
        Notification(_message(channel, count, settings, at), channel)
        for channel, count in held.items()
    ]


def _message(channel: str, count: int, settings: RoutingSettings, at: int) -> Message:
    hour = f"{from_micros(at):%Y%m%dT%H}"
    return Message(
        incident_id=f"more-{hour}-{keys.key(channel) % (1 << 64):016x}",
        revision=1,
        kind="notice",
        severity="ticket",
        what=sentences.more_tickets(count),
        since=at,
        at=at,
        root=MessageRoot("new tickets of", channel, "tickets"),
        owner="",
        note=sentences.ticket_cap(MAX_TICKETS),
        links=MessageLinks(full_list=full_list(None, settings)),
        has_root=False,
        is_answerable=False,
    )
