"""Notifications that one change of an incident brings, and the state after them."""

from typing import Any

import msgspec

from alerts.notify.message import Message, MessageKind
from alerts.notify.notification_state import (
    ChannelState,
    DownstreamNotice,
    NotificationRole,
    NotificationState,
)


class Notification(msgspec.Struct, frozen=True):
    """Message to one channel."""

    message: Message
    channel: str


class TakenStep(msgspec.Struct, frozen=True):
    """Step of an escalation that was taken."""

    incident_id: str
    owner: str
    step: int
    channels: tuple[str, ...]


class NotificationPlan:
    """Notifications of one revision: one for each channel, the last one counts.

    Attributes:
        state: the notification state so far.
        at: µs.
        taken_steps: steps that were taken.
        without_recipient: words for what the policy lacks.
        held_back: channels that have had as many new tickets as they get in an hour.
    """

    def __init__(self, state: NotificationState, at: int) -> None:
        self.state = state
        self.at = at
        self.taken_steps: list[TakenStep] = []
        self.without_recipient: list[str] = []
        self.held_back: list[str] = []
        self._notifications: dict[tuple[str, str], Notification] = {}
        self._is_revised = False

    @property
    def notifications(self) -> tuple[Notification, ...]:
        """Return the notifications in the order in which they were added."""
        return tuple(self._notifications.values())

    def update_state(self, **fields: Any) -> None:  # noqa: ANN401 - as the struct has them
        """Change fields of the state."""
        self.state = msgspec.structs.replace(self.state, **fields)

    def notify_all(self, kind: MessageKind, note: str) -> None:
        """Notify every open channel that has no notification in this plan."""
        for channel_state in self.state.open_channels:
            if (channel_state.dedup_id, channel_state.channel) not in self._notifications:
                self.add(channel_state, kind, note)
        self.update_state(last_notified_at=self.at, has_unsent_changes=False)

    def add(self, channel_state: ChannelState, kind: MessageKind, note: str) -> None:
        """Add a notification to one channel."""
        message = self._message(kind, note, incident_id=channel_state.dedup_id)
        self._notifications[(channel_state.dedup_id, channel_state.channel)] = Notification(
            message, channel_state.channel
        )

    def open_channel(
        self,
        channel: str,
        role: NotificationRole,
        kind: MessageKind,
        note: str,
        *,
        dedup_id: str | None = None,
    ) -> None:
        """Notify a channel, which receives every change from now on."""
        before = self.state.find_channel(channel)
        page_count = 0 if before is None else before.page_count
        name = dedup_id or (self.state.incident_id if before is None else before.dedup_id)
        channel_state = ChannelState(channel, role, name, is_open=True, page_count=page_count)
        if channel_state.can_page and dedup_id is None:
            channel_state = msgspec.structs.replace(channel_state, page_count=page_count + 1)
        self.set_channel(channel_state)
        self.add(channel_state, kind, note)

    def close_channel(self, channel_state: ChannelState, kind: MessageKind, note: str) -> None:
        """Send the last notification to a channel until it is opened again."""
        self.set_channel(msgspec.structs.replace(channel_state, is_open=False))
        self.add(channel_state, kind, note)

    def set_channel(self, channel_state: ChannelState) -> None:
        """Replace the state of a channel."""
        others = (each for each in self.state.channels if each.channel != channel_state.channel)
        self.update_state(channels=(*others, channel_state))

    def add_notice(self, notice: DownstreamNotice, note: str) -> None:
        """Add a notice to downstream owners."""
        message = self._message(
            "notice",
            note,
            impacted=notice.impacted,
            impacted_count=notice.count,
            tiers=notice.tiers,
        )
        self._notifications[(message.incident_id, notice.channel)] = Notification(
            message, notice.channel
        )

    def _message(self, kind: MessageKind, note: str, **fields: Any) -> Message:  # noqa: ANN401 - as above
        own = self.state
        if not self._is_revised:
            self._is_revised = True
            self.update_state(revision=max(own.draft.revision, own.revision + 1))
        return msgspec.structs.replace(
            own.draft,
            kind=kind,
            revision=self.state.revision,
            at=self.at,
            owner=own.addressee,
            note=note,
            **fields,
        )
