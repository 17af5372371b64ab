"""World of an action: a catalog, a spool, a lake, and stand-ins for external dependencies."""

import hashlib
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import Engine, insert, select

from collector.spool_file import SCHEMA
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.policy import DEFAULT, Policy
from lineage.process.clock import to_micros
from runbooks.actions.action import ActionContext, ActionPlan, Downstream, SqlTables
from runbooks.actions.calling import ActionAnswer, Call, call_action
from tests.slis.lake.lakes import event_row, lay, write, writer_of

if TYPE_CHECKING:
    from runbooks.actions.kubernetes import Kubernetes

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


class Posted:
    """Collector that accepts all bodies but those in `rejects`."""

    def __init__(self) -> None:
        self.posted: list[tuple[str, bytes]] = []
        self.requeued: list[tuple[int, str, bytes]] = []
        self.rejects: dict[bytes, str] = {}

    def post(self, bodies: Sequence[bytes], origin: str) -> list[str]:
        """Store the bodies, but those in `rejects`."""
        self.posted += [(origin, body) for body in bodies]
        return [self.rejects[body] for body in bodies if body in self.rejects]

    def requeue(self, body: bytes, origin: str, number: int) -> str | None:
        """Record it."""
        self.requeued.append((number, origin, body))
        return self.rejects.get(body)


class Graph:
    """Downstream datasets by name."""

    def __init__(self) -> None:
        self.of: dict[str, Downstream] = {}

    def downstream(self, dataset: str, namespace: str | None) -> Downstream:
        """Return the planned lineage."""
        del namespace
        return self.of[dataset]


class Supervisor:
    """Roles, and the requests to restart them."""

    def __init__(self) -> None:
        self.running: dict[str, str] = {}
        self.asked: list[str] = []

    def roles(self) -> dict[str, str]:
        """Return the state by role."""
        return self.running

    def ask_to_restart(self, role: str) -> None:
        """Record the request."""
        self.asked.append(role)


class Sql:
    """SQL statements by text."""

    def __init__(self) -> None:
        self.of: dict[str, list[SqlTables]] = {}

    def statements(self, text: str, dialect: str) -> list[SqlTables]:
        """Return the planned names."""
        del dialect
        return self.of.get(text, [])


class World:
    """World of an action, over one folder."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine = engine
        self.folder = folder
        self.collector, self.graph, self.supervisor = Posted(), Graph(), Supervisor()
        self.sql = Sql()
        self.policy: Policy = DEFAULT
        self.kubernetes: Kubernetes | None = None
        self.now = to_micros(NOW)
        self.writer = writer_of(engine, folder, NOW)

    def context(self) -> ActionContext:
        """Return the dependencies of an action."""
        return ActionContext(
            engine=self.engine,
            data_dir=self.folder,
            lake=self.writer.lake,
            now=self.now,
            who="ann",
            via="cli",
            policy=self.policy,
            collector=self.collector,
            graph=self.graph,
            supervised=self.supervisor,
            sql=self.sql,
            kubernetes=self.kubernetes,
        )

    def act(self, name: str, /, *, is_dry: bool = False, **arguments: object) -> ActionAnswer:
        """Run an action; `from_` stands for `from`."""
        given = {field.rstrip("_"): value for field, value in arguments.items()}
        return call_action(Call(name=name, arguments=given, is_dry=is_dry), self.context())

    def plan(self, name: str, /, **arguments: object) -> ActionPlan:
        """Return a dry run's plan."""
        return self.act(name, is_dry=True, **arguments).plan

    def everything(self) -> dict[str, Any]:
        """Return all rows but the audit log's, rows of the spool, and hashes of other files."""
        with self.engine.connect() as connection:
            found: dict[str, Any] = {
                table.name: sorted(map(repr, connection.execute(select(table)).all()))
                for table in tables.metadata.sorted_tables
                if table.name != "audit"
            }
        if (self.folder / "spool.db").exists():
            with sqlite3.connect(self.folder / "spool.db") as spool:
                found["spool"] = list(spool.iterdump())
        files = (path for path in self.folder.rglob("*") if path.is_file())
        found["files"] = {
            str(path): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in files
            if ".db" not in path.name
        }
        found["outside"] = repr(
            (self.collector.posted, self.collector.requeued, self.supervisor.asked)
        )
        return found

    def audited(self) -> list[tuple[Any, ...]]:
        """Return who, via, action, detail and answer of each row."""
        t = tables.audit.c
        rows = select(t.who, t.via, t.action, t.detail, t.answer).order_by(t.id)
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(rows)]

    def insert(self, table: str, *rows: dict[str, Any]) -> None:
        """Insert rows into the catalog."""
        with write_transaction(self.engine) as connection:
            connection.execute(insert(tables.metadata.tables[table]), list(rows))

    def reject(
        self, *bodies: bytes, reason: str = "invalid_event", size: int | None = None
    ) -> None:
        """Store bodies that the collector rejected."""
        with sqlite3.connect(self.folder / "spool.db") as spool:
            spool.executescript(SCHEMA)
            spool.executemany(
                "INSERT INTO rejected (received_at, reason, detail, body, body_bytes, origin)"
                " VALUES (?, ?, ?, ?, ?, 'http')",
                [(1, reason, f"$: {reason}", body, size or len(body)) for body in bodies],
            )

    def lay(
        self,
        *events: tuple[datetime | None, str, bytes],
        first: int = 1,
        is_committed: bool = True,
    ) -> None:
        """Write a batch to the lake."""
        rows = [
            event_row(first + place, at, received_at=NOW, origin=origin, body=body)
            for place, (at, origin, body) in enumerate(events)
        ]
        (lay if is_committed else write)(self.writer, *rows)


def run_event(run: str, *, parent: str | None = None, sql: str | None = None) -> bytes:
    """Return an event of a run with the fields that are read."""
    facets = {"parent": {"run": {"runId": parent}, "job": {}}} if parent else {}
    job = {"namespace": "jobs", "name": "etl", "facets": {"sql": {"query": sql}} if sql else {}}
    return msgspec.json.encode({"run": {"runId": run, "facets": facets}, "job": job})
