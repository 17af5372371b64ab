"""Catalog, incident detector and notification worker on a clock of their own."""

import pytest
from sqlalchemy import select, update

from alerts.detection.incident_detector import IncidentDetector
from alerts.notify.notification_worker import NotificationWorker
from alerts.notify.settings import RoutingSettings
from alerts.operator_actions.command_requests import CommandRequest, submit_command
from alerts.operator_actions.suppression_windows import WindowRequest, create_window
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.policy.model import DEFAULT, Owner, Policy
from lineage.process.clock import from_micros
from tests.alerts.detection.catalog_builder import CatalogBuilder, micros

NOON = 12 * 3600


class DetectorHarness:
    """Incident detector with a catalog, called at times of a test."""

    def __init__(self, engine) -> None:
        self.engine, self.estate = engine, CatalogBuilder(engine)
        self.policy = DEFAULT
        self.troubles = {}
        self._now = 0.0
        self._seen = set()
        self.restart()

    def restart(self):
        """Start a new process, which loads incidents from the catalog."""
        given = (self._clock, lambda: self.policy, RoutingSettings())
        self.watch, self.notification_worker = (
            IncidentDetector(*given, lambda: self.troubles),
            NotificationWorker(*given),
        )

    def at(self, seconds, *, evaluated=True):
        """Run one turn, by default after a new evaluation; return the new events."""
        if evaluated:
            self.estate.evaluate(seconds)
        return self.look(seconds)

    def look(self, seconds):
        """Run one turn without a new evaluation; return the new events."""
        self._now = seconds
        self.watch(self.engine)
        self.notification_worker(self.engine)
        events = {(row.incident_id, row.revision): row for row in self.rows(tables.incident_event)}
        fresh = [row.what for key, row in sorted(events.items()) if key not in self._seen]
        self._seen |= events.keys()
        return fresh

    def until(self, seconds, *, every=15):
        """Run turns up to this second; return all events."""
        first = int(self._now) + every
        return [what for at in range(first, seconds + 1, every) for what in self.at(at)]

    def submit_command(self, incident_id, action, **more):  # noqa: ANN003
        """Submit a command; return its number."""
        wanted = CommandRequest(incident_id=incident_id, action=action, by="ada", via="api", **more)
        with write_transaction(self.engine) as connection:
            return submit_command(connection, wanted, micros(self._now))

    def plan(self, pattern, until):
        """Plan a suppression window from now on."""
        fields = {"name": "migration", "by": "ada", "via": "api", "reason": "a move"}
        with write_transaction(self.engine) as connection:
            wanted = WindowRequest(pattern=pattern, until=micros(until), **fields)
            create_window(connection, wanted, micros(self._now))

    def move(self, name, namespace):
        """Move a dataset to another namespace, under the same key."""
        table = tables.dataset
        with write_transaction(self.engine) as connection:
            mine = update(table).where(table.c.name == name)
            connection.execute(mine.values(namespace=namespace))

    def rows(self, table=tables.incident):
        """Return all rows of a table, in the order of its key."""
        with self.engine.connect() as connection:
            return connection.execute(select(table).order_by(*table.primary_key)).all()

    @property
    def one(self):
        """Return the only incident."""
        [row] = self.rows()
        return row

    def _clock(self):
        return from_micros(micros(self._now))


@pytest.fixture
def watched(catalog):
    """Return a harness, on both kinds of catalog."""
    return DetectorHarness(catalog)


@pytest.fixture
def failed(watched):
    """Return a harness whose job of `raw` failed, and whose datasets downstream of it are late."""
    estate = watched.estate
    estate.add("raw", "core", "mart")
    estate.add("board", tier="critical")
    estate.chain("raw", "core", "mart", "board")
    watched.at(NOON)
    run = estate.fail("raw", NOON + 60)
    estate.say("raw", "bad", "job_failed", limit_seconds=NOON + 90.0)
    estate.say("core", "bad", "upstream_late", limit_seconds=NOON + 120.0)
    watched.run = run
    return watched


@pytest.fixture
def core(watched):
    """Return an important dataset that is good; its owner has a channel."""
    owners = ("sales", "finance", "platform")
    watched.policy = Policy(owners=tuple(Owner(name=name, slack=f"#{name}") for name in owners))
    watched.estate.add("core", owner="sales")
    watched.at(NOON)
    return watched
