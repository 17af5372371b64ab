"""Second half of a game day: incidents, routing and delivery, walked over the changes.

The code is that of production (`alerts.detection`, `alerts.notify`), on a clock that jumps from one
relevant time to the next. People are simulated by one habit: a paged person acknowledges after five
minutes; if the incident is resolved by then, once it is seen to be back.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Engine, func, select

from alerts.detection.incident_detector import IncidentDetector
from alerts.incidents.incident import Incident
from alerts.notify.notification_worker import NotificationWorker
from alerts.notify.sender import Sender
from alerts.notify.settings import TICKETS, DeliverySettings, RoutingSettings
from alerts.operator_actions.command_requests import CommandRequest, submit_command
from lab.gameday.driver.fake_transports import transports
from lab.gameday.driver.saved_run import SavedSlab
from lab.gameday.driver.staged_catalog import Stage
from lab.gameday.fake_receivers import ReceivedMessage, Receivers
from lab.gameday.truth_shapes import NamePattern
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.policy import Policy
from lineage.process.clock import SECOND_MICROS, from_micros

_STEP: Final = 15 * SECOND_MICROS  # as evaluations come while events do
_LATER: Final = 300 * SECOND_MICROS
_MINUTE: Final = 60 * SECOND_MICROS  # what is muted is looked at every 10 s: by the minute will do
_SOON: Final = 8  # steps after a change, in which holds of 30 and 45 s end
_HOUR: Final = 3_600 * SECOND_MICROS
_ANSWERS_AFTER: Final = 300 * SECOND_MICROS
_LOOKS_FOR: Final = 4 * _HOUR  # so long a paged person watches the incident

Lists = dict[tuple[str, int], frozenset[NamePattern]]


class _Answer(msgspec.Struct, frozen=True):
    """Acknowledgement by a paged person: when, and until when it may be."""

    at: int
    incident: str
    until: int


class WalkResult(msgspec.Struct, frozen=True):
    """Messages that people received, and the list behind each link at that time."""

    messages: list[ReceivedMessage]
    lists: Lists

    def resolve(self, link: str, at: int) -> Iterable[NamePattern]:
        """Return a list's names; see `lab.gameday.scorer.Resolver`."""
        return self.lists.get((link, at), frozenset())


def walk(engine: Engine, policy: Policy, slabs: Iterable[SavedSlab]) -> WalkResult:
    """Walk a month.

    Args:
        engine: of a catalog of its own, migrated and empty.
        policy: of the estate.
        slabs: as they were kept, in their order.
    """
    walking = _Walking(engine, policy)
    try:
        for slab in slabs:
            walking.through(slab)
    finally:
        walking.close()
    return WalkResult(walking.receivers.messages, walking.lists)


class _Walking:
    def __init__(self, engine: Engine, policy: Policy) -> None:
        self._engine = engine
        self._now = 0
        self.receivers = Receivers()
        self.lists: Lists = {}
        self._stage = Stage(engine)
        settings = RoutingSettings(tickets=TICKETS)
        self._works = (
            IncidentDetector(self._clock, lambda: policy, settings),
            NotificationWorker(self._clock, lambda: policy, settings),
        )
        outlets = transports(self.receivers, self._clock)
        self._sender = Sender(engine, outlets, DeliverySettings(), clock=self._clock)
        self._answers: list[_Answer] = []

    def close(self) -> None:
        """Stop sending."""
        self._sender.close()

    def through(self, slab: SavedSlab) -> None:
        """Walk through every instant of it that matters."""
        begins, ends = slab.figures.starts_at, slab.figures.ends_at
        changes = self._stage.enter(slab)
        hours = range(begins, ends, _HOUR)
        stops = sorted({*changes, *hours})
        for at, following in zip(stops, [*stops[1:], ends], strict=True):
            self._turn(at)
            for later in self._between(at, following):
                self._turn(later)

    def _between(self, at: int, following: int) -> Iterator[int]:
        """Yield every 15 s, at first, while an incident is held; and answers and due messages."""
        last, steps = at, 0
        while True:
            due = [answer.at for answer in self._answers] + self._due_after(last)
            if self._is_held():
                due.append(last + (_STEP if steps < _SOON else _LATER))
            last = min(due, default=following)
            if last >= following:
                return
            steps += 1
            yield last

    def _due_after(self, at: int) -> list[int]:
        """Return when time alone causes a message: a second page, or an escalation."""
        own = tables.incident_notification.c
        query = select(func.min(own.due_at)).where(own.is_bad, own.due_at > at)
        with self._engine.connect() as connection:
            found = connection.scalar(query)
        return [] if found is None else [max(found, at + _MINUTE)]

    def _turn(self, at: int) -> None:
        self._now = at
        self._stage.bring(at)
        self._answer()
        for work in self._works:
            work(self._engine)
        before = len(self.receivers.messages)
        self._sender.run()
        for message in self.receivers.messages[before:]:
            self._note(message)

    def _note(self, message: ReceivedMessage) -> None:
        if message.what == "page":
            answer = _Answer(message.at + _ANSWERS_AFTER, message.incident, message.at + _LOOKS_FOR)
            self._answers.append(answer)
        if message.full_list is not None:
            self.lists[message.full_list, message.at] = self._listed(message.full_list)

    def _listed(self, link: str) -> frozenset[NamePattern]:
        """Return the datasets on the page behind a link of an incident."""
        impact, dataset = tables.incident_impact, tables.dataset
        rows = (
            select(dataset.c.namespace, dataset.c.name)
            .join(impact, impact.c.dataset_key == dataset.c.dataset_key)
            .where(impact.c.incident_id == link.rsplit("/", 1)[-1])
        )
        with self._engine.connect() as connection:
            return frozenset(
                NamePattern(row.namespace, row.name) for row in connection.execute(rows)
            )

    def _answer(self) -> None:
        """Acknowledge for each person who was paged five minutes ago."""
        due = [each for each in self._answers if each.at <= self._now]
        self._answers = [each for each in self._answers if each.at > self._now]
        for answer in due:
            if self._is_over(answer.incident):
                again = msgspec.structs.replace(answer, at=self._now + _ANSWERS_AFTER)
                self._answers += [again] if again.at < again.until else []
                continue
            wanted = CommandRequest(
                incident_id=answer.incident, action="acknowledge", by="on call", via="api"
            )
            with write_transaction(self._engine) as connection:
                submit_command(connection, wanted, self._now)

    def _is_over(self, incident: str) -> bool:
        table = tables.incident
        query = select(table.c.resolved_at).where(table.c.incident_id == incident)
        with self._engine.connect() as connection:
            return connection.scalar(query) is not None

    def _is_held(self) -> bool:
        incident = tables.incident
        query = select(incident.c.life).where(incident.c.is_remembered)
        with self._engine.connect() as connection:
            lives = [msgspec.json.decode(life, type=Incident) for life in connection.scalars(query)]
        return any(_is_held(each) for each in lives)

    def _clock(self) -> datetime:
        return from_micros(self._now)


def _is_held(incident: Incident) -> bool:
    """Return whether it is about to open, or to be resolved."""
    is_closing = incident.is_tracked and incident.good_at is not None
    return incident.state == "pending" or is_closing
