"""Notifications already sent for an incident, stored beside it so that a restart repeats none.

All timestamps are microseconds since 1970 UTC.
"""

from typing import Final, Literal

import msgspec

from alerts.incidents.incident import IncidentState
from alerts.notify.channels import registry
from alerts.notify.message import Impacted, Message

# The owner of the root; an addressee of an escalation step.
NotificationRole = Literal["owner", "step"]

# Names of fields in the JSON of `incident_telling`. Services of the release before read it too.
_CHANNEL_JSON: Final = {"dedup_id": "known_as", "page_count": "rung"}
_NOTICE_JSON: Final = {"notified_at": "told_at"}
_STATE_JSON: Final = {
    "incident_state": "state",
    "is_digest_only": "waits_for_digest",
    "is_confirmed": "is_released",
    "hold_until": "waits_until",
    "notified_at": "told_at",
    "last_notified_at": "said_at",
    "has_unsent_changes": "is_stale",
    "repage_at": "ring_at",
    "channels": "places",
    "is_summary_sent": "is_hidden_told",
}


class ChannelState(msgspec.Struct, frozen=True, rename=_CHANNEL_JSON):
    """Channel that was notified of an incident.

    Attributes:
        channel: its name.
        role: why it was notified.
        dedup_id: the incident id that the channel knows; another's where that one was merged.
        is_open: it receives every change; false once the incident was resolved or handed over.
        page_count: how many times it paged; only a type that can page.
    """

    channel: str
    role: NotificationRole
    dedup_id: str
    is_open: bool = True
    page_count: int = 0

    @property
    def can_page(self) -> bool:
        """Return whether the channel pages a person."""
        return registry.can_page(self.channel)


class DownstreamNotice(msgspec.Struct, frozen=True, rename=_NOTICE_JSON):
    """Notice to the downstream owners that share one channel.

    Attributes:
        owners: of the datasets.
        impacted: their most severe datasets, ten at most.
        count: of all their affected datasets.
        tiers: how many are of each tier.
        notified_at: when the channel was last notified; None: never.
        is_due: there is news to send.
    """

    channel: str
    owners: tuple[str, ...]
    impacted: tuple[Impacted, ...]
    count: int
    tiers: tuple[tuple[str, int], ...]
    notified_at: int | None = None
    is_due: bool = True


class NotificationState(msgspec.Struct, frozen=True, kw_only=True, rename=_STATE_JSON):
    """Incident with the notifications sent for it.

    Attributes:
        draft: the message that its newest state would be.
        incident_state: of the incident.
        fault: value of the label `root_kind`.
        is_standing: a gap since the dataset was first seen; downstream owners get no notice.
        is_early: no dataset is affected yet.
        is_digest_only: while it is a ticket, only the daily digest lists it.
        owner: of the root.
        addressee: owner that was notified: the root's, or the platform's.
        note: why the addressee is not the root's owner.
        revision: of the newest message; never below the incident's own.
        is_confirmed: Alertmanager has called for it.
        hold_until: nobody was notified yet; routing looks again then.
        notified_at: when the present owner was notified; escalation counts from it.
        last_notified_at: when the last message was written.
        has_unsent_changes: the draft holds more than the last message.
        repage_at: when PagerDuty may page again.
        channels: that were notified.
        notices: to downstream owners.
        steps: of escalation that were taken: owner and position.
        hidden_by: the planned window that suppressed it from the beginning.
        hidden_at: since when.
        hidden_until: until when, as was known then.
        is_summary_sent: the summary of that window listed it.
        ended_at: when it was resolved.
    """

    incident_id: str
    draft: Message
    incident_state: IncidentState
    fault: str
    is_standing: bool = False
    is_early: bool = False
    is_digest_only: bool = False
    owner: str | None = None
    addressee: str = ""
    note: str = ""
    revision: int = 0
    is_confirmed: bool = False
    hold_until: int | None = None
    notified_at: int | None = None
    last_notified_at: int | None = None
    has_unsent_changes: bool = False
    repage_at: int | None = None
    channels: tuple[ChannelState, ...] = ()
    notices: tuple[DownstreamNotice, ...] = ()
    steps: tuple[tuple[str, int], ...] = ()
    hidden_by: str | None = None
    hidden_at: int | None = None
    hidden_until: int | None = None
    is_summary_sent: bool = False
    ended_at: int | None = None

    @property
    def is_notified(self) -> bool:
        """Return whether any channel was notified."""
        return bool(self.channels)

    @property
    def is_for_digest(self) -> bool:
        """Return whether only the daily digest lists it."""
        return self.is_digest_only and not self.is_notified and self.draft.severity == "ticket"

    @property
    def is_bad(self) -> bool:
        """Return whether the incident is open and not suppressed."""
        return self.incident_state in {"open", "acknowledged"}

    @property
    def owner_page_count(self) -> int:
        """Return how many times owners were paged; pages of escalation steps do not count."""
        return sum(each.page_count for each in self.channels if each.role == "owner")

    def find_channel(self, channel: str) -> ChannelState | None:
        """Return the state of a channel; None: it was never notified."""
        return next((each for each in self.channels if each.channel == channel), None)

    @property
    def open_channels(self) -> tuple[ChannelState, ...]:
        """Return the channels that receive every change."""
        return tuple(each for each in self.channels if each.is_open)
