"""Incidents in a catalog, and an evaluation that takes commands."""

from typing import Any

import msgspec
from sqlalchemy import Engine, delete, insert, select, text, update

from alerts.incidents.incident import Incident
from alerts.incidents.lifecycle import advance
from alerts.incidents.steps import StepInput
from alerts.operator_actions.command_queue import (
    command_rejections,
    complete_commands,
    pending_commands,
)
from alerts.operator_actions.command_requests import CommandAction, CommandRequest
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from tests.alerts.incidents.scenarios import make_fault

SECOND = 1_000_000
START = 1_790_000_000 * SECOND


class IncidentCatalog:
    """Failed job since `start`, whose incident is open; times in seconds after that."""

    def __init__(self, engine: Engine, start: int = START) -> None:
        self.engine = engine
        self.start = start
        self.fault = make_fault("A", onset=start // SECOND)
        self.incidents: tuple[Incident, ...] = ()
        self.turn(0)
        self.turn(30)

    @property
    def one(self) -> Incident:
        """Return the only incident."""
        (incident,) = self.incidents
        return incident

    def ask(self, action: CommandAction, **fields: Any) -> CommandRequest:  # noqa: ANN401 - of `CommandRequest`
        """Return a request of ann, by the API."""
        return CommandRequest(
            **{"incident_id": self.one.id, "action": action, "by": "ann", "via": "api"} | fields
        )

    def turn(self, seconds: float, *, is_bad: bool = True) -> None:
        """Run one evaluation in one transaction, as the service does."""
        at = self.start + int(seconds * SECOND)
        with write_transaction(self.engine) as connection:
            taken = pending_commands(connection)
            commands = tuple(command for _, command in taken)
            now = StepInput(at, (self.fault,) if is_bad else (), commands=commands)
            done = advance(self.incidents, now)
            for each in done.incidents:
                save(connection, each)
            numbers = [number for number, _ in taken]
            complete_commands(connection, numbers, command_rejections(taken, done.rejected), at)
        self.incidents = done.incidents

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(sql))]

    @property
    def verdict(self) -> bool | None:
        """Return the verdict of people."""
        with self.engine.connect() as connection:
            return connection.scalar(select(tables.incident.c.is_false_alarm))


def save(connection: Any, incident: Incident) -> None:  # noqa: ANN401 - a connection
    """Write the current state of an incident, and keep what operators added."""
    table = tables.incident
    row = _row(incident)
    same = table.c.incident_id == incident.id
    if not connection.execute(update(table).where(same).values(row)).rowcount:
        connection.execute(insert(table), row)


def delete_incidents(engine: Engine) -> None:
    """Delete all incidents."""
    with write_transaction(engine) as connection:
        connection.execute(delete(tables.incident))


def _row(incident: Incident) -> dict[str, Any]:
    return {
        "incident_id": incident.id,
        "state": incident.state,
        "revision": incident.revision,
        "is_remembered": True,
        "life": msgspec.json.encode(incident).decode(),
        "what": "the job failed",
        "root_entity": incident.root.entity,
        "root_key": incident.root.key,
        "root_kind": incident.root.kind,
        "root_namespace": "jobs",
        "root_name": "etl",
        "severity": "page",
        "because": "nobody",
        "score": 1.0,
        "evidence": "",
        "correlation_id": "c",
        "is_bridged": False,
        "is_flapping": False,
        "is_frozen": False,
        "onset": incident.onset,
        "seen_at": incident.seen_at,
    }
