"""Shop whose faults go through the whole notifier, on a clock that tests set."""

from collections.abc import Sequence
from concurrent.futures import wait
from pathlib import Path
from typing import Any

import msgspec
from litestar.testing import TestClient
from sqlalchemy import Engine, Table, select

from alerts.notify.delivery_queries import load_counts, oldest_undelivered_seconds
from alerts.notify.settings import DeliverySettings, RoutingSettings
from alerts.operator_actions.command_requests import CommandRequest, submit_command
from alerts.rules.incident_alerts import INCIDENT_ALERT_NAMES
from lineage.catalog import tables
from lineage.catalog.engine import catalog_url, write_transaction
from lineage.catalog.reader import open_reader
from lineage.process.clock import Clock
from service.api.app import create_app
from service.exporter.incidents import incident_families
from service.incidents import incident_worker
from service.runtime.periodic import CatalogTask
from service.runtime.settings import Settings
from tests.alerts.detection.catalog_builder import MIDNIGHT, CatalogBuilder
from tests.alerts.notify.messages import Ticking
from tests.fakes.pagerduty import FakePagerDuty
from tests.fakes.settings import delivery_settings
from tests.fakes.slack import FakeSlack

SALES, FINANCE, PLATFORM = "C0000001", "C0000002", "C0000009"
KEY, PLATFORM_KEY = "R" * 32, "S" * 32
STEP = 10
ALERTMANAGER = "/api/v1/alertmanager"
JSON = {"Content-Type": "application/json"}
_POLICY = """
owners:
  - {name: sales, slack: C0000001, pagerduty_key_file: sales.key}
  - {name: finance, slack: C0000002}
  - {name: platform, slack: C0000009, pagerduty_key_file: platform.key}
"""


class NotifierInputs(msgspec.Struct, frozen=True):
    """Inputs with which a notifier starts, the same after each kill."""

    settings: Settings
    routing: RoutingSettings
    delivery: DeliverySettings

    def tasks(self, clock: Clock) -> list[CatalogTask]:
        """Return the tasks that the service runs each second."""
        given = incident_worker.build_tasks(self.settings, self.routing, self.delivery, clock)
        policy, watch, *others = given
        return [policy, watch, *incident_worker.build_diagnosis(self.settings), *others]

    def client(self, clock: Clock) -> TestClient:
        """Return a client of the service's API."""
        app = create_app(self.settings, clock, routing=self.routing)
        return TestClient(app, base_url="http://127.0.0.1")


def given(folder: Path, slack: FakeSlack, pagerduty: FakePagerDuty) -> NotifierInputs:
    """Write a policy: pages for sales and the platform, Slack for finance, fallback platform."""
    (folder / "lineward.yaml").write_text(_POLICY)
    (folder / "sales.key").write_text(KEY)
    (folder / "platform.key").write_text(PLATFORM_KEY)
    # A lease is five times as long, and ends before what has failed is an incident.
    fields = {"fallback": f"slack:{PLATFORM}", "timeout_seconds": 2}
    delivery = delivery_settings(slack, pagerduty, folder, **fields)
    settings = Settings(data_dir=folder, policy=folder / "lineward.yaml")
    return NotifierInputs(settings, RoutingSettings(fallback=delivery.fallback), delivery)


def turn(tasks: Sequence[CatalogTask], engine: Engine) -> None:
    """Run the tasks of one second, and wait for what they send."""
    for task in tasks:
        task(engine)
    settle(tasks)


def settle(tasks: Sequence[CatalogTask]) -> None:
    """Wait until nothing is being sent."""
    sender = tasks[-1]._sender  # noqa: SLF001 - in production the next second looks again
    for each in wait(sender._busy.values()).done:  # noqa: SLF001
        each.result()


class Shop:
    """Shop in which sales owns the critical `raw`, and finance makes `mart` from it.

    Attributes:
        given: inputs with which its notifier starts.
        clock: clock of the whole shop.
    """

    def __init__(self, given: NotifierInputs, engine: Engine, clock: Ticking) -> None:
        self.given, self.engine, self.clock = given, engine, clock
        self._estate = CatalogBuilder(engine)
        for name in ("raw", "clicks"):
            self._estate.add(name, tier="critical")
        self._estate.add("mart")
        self._estate.own("mart", "finance")
        self._estate.chain("raw", "mart")
        self.restart()

    @property
    def seconds(self) -> float:
        """Return the seconds since the estate's midnight."""
        return (self.clock.micros - MIDNIGHT) / 1_000_000

    def restart(self, **routing: Any) -> None:  # noqa: ANN401 - as the settings have them
        """Start a new notifier, which loads its state from the catalog."""
        changed = msgspec.structs.replace(self.given.routing, **routing)
        self.given = msgspec.structs.replace(self.given, routing=changed)
        self._tasks = self.given.tasks(self.clock)

    def evaluate(self) -> None:
        """Add an evaluation of the pipeline."""
        self._estate.evaluate(self.seconds)

    def turn(self) -> None:
        """Run one turn after a new evaluation."""
        self.evaluate()
        turn(self._tasks, self.engine)

    def go(self, seconds: int, step: int = STEP) -> None:
        """Let time go by, in turns; the last one at its end."""
        for _ in range(0, seconds, step):
            self.clock.pass_(step)
            self.turn()

    def run_with(self, version: str) -> None:
        """Record good runs of all jobs with this version of Spark."""
        self._estate.add_good_runs(self.rows(tables.dataset_activity), version)

    def fail(self, name: str = "raw", **text: Any) -> None:  # noqa: ANN401 - as a run has them
        """Fail its job, and make what is downstream late."""
        self._estate.fail(name, self.seconds, **text)
        self._estate.say(name, "bad", "job_failed", since=self.seconds)

    def open(self, name: str = "raw") -> None:
        """Fail its job for long enough to open an incident."""
        self.fail(name)
        self.go(4 * STEP)
        assert "open" in {each.state for each in self.rows()}

    def heal(self, name: str = "raw") -> None:
        """Write it again."""
        self._estate.say(name, "good", since=self.seconds)
        row = {"last_written_at": self.clock.micros}
        table = tables.dataset_activity
        mine = table.update().where(table.c.last_job_name == f"make_{name}")
        with write_transaction(self.engine) as connection:
            connection.execute(mine.values(**row))

    def ask(self, action: str) -> None:
        """Submit an action for the only incident by the API."""
        wanted = CommandRequest(
            incident_id=self.one.incident_id, action=action, by="ada", via="api"
        )
        with write_transaction(self.engine) as connection:
            submit_command(connection, wanted, self.clock.micros)

    def firing(self) -> list[dict[str, str]]:
        """Return what Prometheus would send: an alert for each series of an open incident."""
        with open_reader(catalog_url(self.given.settings.data_dir)) as reader:
            [family] = [
                each for each in incident_families(reader) if each.name == "lineage_incident_open"
            ]
        return [
            {"alertname": INCIDENT_ALERT_NAMES[each.labels["severity"]], **each.labels}
            for each in family.samples
        ]

    def rows(self, table: Table = tables.incident) -> list[Any]:
        """Return all rows of a table, in the order of its key."""
        with self.engine.connect() as connection:
            return list(connection.execute(select(table).order_by(*table.primary_key)))

    @property
    def one(self) -> Any:  # noqa: ANN401 - a row
        """Return the only incident."""
        [row] = self.rows()
        return row

    def undelivered(self) -> tuple[float, float]:
        """Return how many messages the fallback channel got, and the age of the oldest."""
        with open_reader(catalog_url(self.given.settings.data_dir)) as reader:
            failed = load_counts(reader, "failed")
            oldest = oldest_undelivered_seconds(reader, self.clock.micros)
        return sum(each.value for each in failed if each.label == "undelivered"), oldest

    def pending(self) -> list[Any]:
        """Return the messages that were neither sent nor superseded."""
        return [
            each
            for each in self.rows(tables.notification)
            if each.state not in {"sent", "superseded"}
        ]
