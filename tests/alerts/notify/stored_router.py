"""Router over a catalog: each step and each second in its own transaction."""

import msgspec
from sqlalchemy import Engine, select

from alerts.incidents.lifecycle import advance
from alerts.incidents.steps import StepInput
from alerts.notify.router import route_due, route_incident_step
from lineage.catalog.engine import write_transaction
from lineage.catalog.tables import notification
from lineage.process.clock import SECOND_MICROS
from tests.alerts.notify.memory_router import POLICY, SETTINGS, summary


class StoredRouter:
    """Router whose state is in the catalog only."""

    def __init__(self, engine: Engine, policy=POLICY, **set_) -> None:  # noqa: ANN003
        self.engine = engine
        self.policy = policy
        self.settings = msgspec.structs.replace(SETTINGS, **set_)
        self.incidents = ()

    def at(self, seconds, *found, **painted):  # noqa: ANN002, ANN003
        """Route one step."""
        now = StepInput(round(seconds * SECOND_MICROS), found)
        done = advance(self.incidents, now)
        self.incidents = done.incidents
        summaries = {own.id: summary(own, **painted) for own in done.changed}
        with write_transaction(self.engine) as connection:
            route_incident_step(connection, done, summaries, self.policy, self.settings, now.at)

    def opened(self, *found, at=0, **painted):  # noqa: ANN002, ANN003
        """Open incidents after 30 s."""
        self.at(at, *found, **painted)
        self.at(at + 30, *found, **painted)

    def route_due(self, seconds):
        """Route one second."""
        with write_transaction(self.engine) as connection:
            route_due(connection, self.policy, self.settings, round(seconds * SECOND_MICROS))

    @property
    def outbox(self):
        """Return `channel kind revision` of all messages, in order."""
        own = notification.c
        query = select(own.channel, own.kind, own.revision)
        query = query.order_by(own.created_at, own.channel, own.revision)
        with self.engine.connect() as connection:
            return [f"{row.channel} {row.kind} {row.revision}" for row in connection.execute(query)]

    def messages(self, kind):
        """Return the messages of a kind, in order."""
        query = select(notification.c.message).where(notification.c.kind == kind)
        with self.engine.connect() as connection:
            rows = connection.scalars(query.order_by(notification.c.created_at)).all()
        return [msgspec.json.decode(row) for row in rows]
