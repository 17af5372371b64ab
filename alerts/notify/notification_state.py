"""What people know of an incident: kept with it, so that a restart tells nobody twice.

All instants are whole microseconds since 1970 UTC.
"""

from typing import Final, Literal

import msgspec

from alerts.incidents.incident import State
from alerts.notify.message import Impacted, Message
from alerts.notify.recipients import PAGERDUTY

MICROS: Final = 1_000_000
# The owner of the root; whoever an escalation named beside it.
Role = Literal["owner", "step"]


class Place(msgspec.Struct, frozen=True):
    """A channel that was told of it.

    Attributes:
        channel: its name.
        role: why it was told.
        known_as: the incident id that it knows it by: another's where that was merged into this.
        is_open: it takes every change; false once it was resolved there, or handed over.
        rung: how often somebody was rung by it; only PagerDuty rings.
    """

    channel: str
    role: Role
    known_as: str
    is_open: bool = True
    rung: int = 0

    @property
    def rings(self) -> bool:
        """Whether it can ring anybody."""
        return self.channel.startswith(PAGERDUTY)


class Notice(msgspec.Struct, frozen=True):
    """What one channel of downstream owners is told, once.

    Attributes:
        owners: whose datasets these are.
        impacted: the gravest of theirs, ten at most.
        count: of all of theirs.
        tiers: how many are of each tier.
        told_at: when it was last told; None: never.
        is_due: there is something to tell.
    """

    channel: str
    owners: tuple[str, ...]
    impacted: tuple[Impacted, ...]
    count: int
    tiers: tuple[tuple[str, int], ...]
    told_at: int | None = None
    is_due: bool = True


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """One incident and what was said of it.

    Attributes:
        draft: its newest state, as it would be told.
        state: of the incident.
        fault: what the label `root_kind` says.
        is_standing: a gap that always stood: no news to anybody downstream.
        is_early: no dataset is affected yet.
        waits_for_digest: as a ticket it stands in the daily digest alone.
        owner: of the root.
        addressee: who was told: that owner, or the platform's.
        note: why it is not that owner.
        revision: of the newest message; never below the incident's own.
        is_released: Alertmanager has called.
        waits_until: nothing was told yet, and is looked at then.
        told_at: when the present owner was told: escalation counts from it.
        said_at: when anything was last said.
        is_stale: less was said than the draft has.
        ring_at: somebody who must not be rung now may be then.
        places: channels that were told.
        notices: to owners downstream.
        steps: of escalation that were told: whose, and its position.
        hidden_by: the planned window that hid it from the beginning.
        hidden_at: since when.
        hidden_until: until when, as was known then.
        is_hidden_told: it was listed when that window ended.
        ended_at: when it was resolved.
    """

    incident_id: str
    draft: Message
    state: State
    fault: str
    is_standing: bool = False
    is_early: bool = False
    waits_for_digest: bool = False
    owner: str | None = None
    addressee: str = ""
    note: str = ""
    revision: int = 0
    is_released: bool = False
    waits_until: int | None = None
    told_at: int | None = None
    said_at: int | None = None
    is_stale: bool = False
    ring_at: int | None = None
    places: tuple[Place, ...] = ()
    notices: tuple[Notice, ...] = ()
    steps: tuple[tuple[str, int], ...] = ()
    hidden_by: str | None = None
    hidden_at: int | None = None
    hidden_until: int | None = None
    is_hidden_told: bool = False
    ended_at: int | None = None

    @property
    def is_told(self) -> bool:
        """Somebody has heard of it."""
        return bool(self.places)

    @property
    def is_for_digest(self) -> bool:
        """Whether the daily digest is all that anybody gets of it."""
        return self.waits_for_digest and not self.is_told and self.draft.severity == "ticket"

    @property
    def is_bad(self) -> bool:
        """It stands open, and nobody asked for silence."""
        return self.state in {"open", "acknowledged"}

    @property
    def rings(self) -> int:
        """How often owners were rung; whom an escalation rang is the policy's wish."""
        return sum(place.rung for place in self.places if place.role == "owner")

    def place(self, channel: str) -> Place | None:
        """What this channel knows."""
        return next((place for place in self.places if place.channel == channel), None)

    @property
    def open_places(self) -> tuple[Place, ...]:
        """Channels that take every change."""
        return tuple(place for place in self.places if place.is_open)
