"""One incident within a decision: what is said of it, and what is known to have been said."""

from typing import Any

import msgspec

from alerts.notify.message import Kind, Message
from alerts.notify.notification_state import Notice, Place, Role, Telling


class Letter(msgspec.Struct, frozen=True):
    """A message to one channel."""

    message: Message
    channel: str


class Escalated(msgspec.Struct, frozen=True):
    """A step of an escalation that was taken."""

    incident_id: str
    owner: str
    step: int
    channels: tuple[str, ...]


class Sheet:
    """Letters of one revision, one for a channel: the last word to it counts.

    Attributes:
        telling: as it is so far.
        at: µs.
        escalated: steps that were taken.
        gaps: words for what the policy lacks.
        held: channels that have had as many new tickets as they get in an hour.
    """

    def __init__(self, telling: Telling, at: int) -> None:
        self.telling = telling
        self.at = at
        self.escalated: list[Escalated] = []
        self.gaps: list[str] = []
        self.held: list[str] = []
        self._letters: dict[tuple[str, str], Letter] = {}
        self._is_revised = False

    @property
    def letters(self) -> tuple[Letter, ...]:
        """In the order in which they were first thought of."""
        return tuple(self._letters.values())

    def note(self, **fields: Any) -> None:  # noqa: ANN401 - as the struct has them
        """Change what is known."""
        self.telling = msgspec.structs.replace(self.telling, **fields)

    def say(self, kind: Kind, note: str) -> None:
        """To every channel that takes changes, unless it hears something else already."""
        for place in self.telling.open_places:
            if (place.known_as, place.channel) not in self._letters:
                self.write(place, kind, note)
        self.note(said_at=self.at, is_stale=False)

    def write(self, place: Place, kind: Kind, note: str) -> None:
        """To one channel."""
        message = self._message(kind, note, incident_id=place.known_as)
        self._letters[(place.known_as, place.channel)] = Letter(message, place.channel)

    def open(
        self, channel: str, role: Role, kind: Kind, note: str, *, known_as: str | None = None
    ) -> None:
        """To a channel that takes every change from now on."""
        before = self.telling.place(channel)
        rung = 0 if before is None else before.rung
        name = known_as or (self.telling.incident_id if before is None else before.known_as)
        place = Place(channel, role, name, is_open=True, rung=rung)
        if place.rings and known_as is None:
            place = msgspec.structs.replace(place, rung=rung + 1)
        self.keep(place)
        self.write(place, kind, note)

    def close(self, place: Place, kind: Kind, note: str) -> None:
        """The last word to a channel, until it is opened again."""
        self.keep(msgspec.structs.replace(place, is_open=False))
        self.write(place, kind, note)

    def keep(self, place: Place) -> None:
        """What a channel knows now."""
        others = (each for each in self.telling.places if each.channel != place.channel)
        self.note(places=(*others, place))

    def give_notice(self, notice: Notice, note: str) -> None:
        """Tell those downstream of theirs."""
        message = self._message(
            "notice",
            note,
            impacted=notice.impacted,
            impacted_count=notice.count,
            tiers=notice.tiers,
        )
        self._letters[(message.incident_id, notice.channel)] = Letter(message, notice.channel)

    def _message(self, kind: Kind, note: str, **fields: Any) -> Message:  # noqa: ANN401 - as above
        own = self.telling
        if not self._is_revised:
            self._is_revised = True
            self.note(revision=max(own.draft.revision, own.revision + 1))
        return msgspec.structs.replace(
            own.draft,
            kind=kind,
            revision=self.telling.revision,
            at=self.at,
            owner=own.addressee,
            note=note,
            **fields,
        )
