"""Small estate with a detector, a sender and the timing of M8, on its own clock."""

from typing import Any

import msgspec
from sqlalchemy import Engine, insert, text

from alerts.detection.incident_detector import IncidentDetector
from alerts.notify.channels.channel import (
    ChannelTask,
    DeliveryOutcome,
    PermanentFailure,
    Retryable,
    Sent,
)
from alerts.notify.notification_worker import NotificationWorker
from alerts.notify.sender import Sender
from alerts.notify.settings import DeliverySettings, RoutingSettings
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.policy.model import Owner, Policy
from lineage.process.clock import from_micros
from service.incidents.impact.impact_clock import ImpactClock
from tests.alerts.detection.catalog_builder import DAY, CatalogBuilder, micros
from tests.alerts.detection.conftest import DetectorHarness

NOON = 12 * 3600
FAILED = NOON + 600
CORE, MART = "core/orders", "mart/daily"
SALES = Owner("sales", slack="C1", pagerduty_key_file="sales.key")
FINANCE = Owner("finance", slack="C2")
PLATFORM = Owner("platform", slack="C9")
EVERYBODY = (SALES, FINANCE, PLATFORM)


class Evaluated(CatalogBuilder):
    """Estate that keeps its evaluations."""

    def evaluate(self, at: float) -> None:
        """Add an evaluation."""
        row = {"as_of": micros(at), "previous_as_of": None, "last_seq": 0, "datasets": 0}
        with write_transaction(self.engine) as connection:
            added = insert(tables.evaluation).values(**row, policy_hash="", seconds=0.0)
            connection.execute(added)


class Providers:
    """Providers that accept all messages, but for targets that are down or reject them."""

    def __init__(self) -> None:
        self.down: frozenset[str] = frozenset()
        self.rejecting: frozenset[str] = frozenset()

    def send(self, task: ChannelTask) -> DeliveryOutcome:
        """Take it, or say that it may be tried again."""
        if task.target in self.rejecting:
            return PermanentFailure("http_403")
        return Retryable("http_500") if task.target in self.down else Sent("handle")


class Pager(DetectorHarness):
    """Shop with the critical `core/orders`, due an hour after noon, and `mart/daily` downstream.

    A turn is one of the detector, of the sender and of M8's timing, in this order.
    """

    def __init__(self, engine: Engine, **routing: Any) -> None:  # noqa: ANN401 - of its settings
        self.routing = RoutingSettings(**routing)
        self.providers = Providers()
        super().__init__(engine)
        self.estate = Evaluated(engine)
        self.policy = Policy(owners=EVERYBODY)
        self.estate.add(CORE, tier="critical")
        self.estate.add(MART)
        self.estate.own(MART, "finance")
        self.estate.chain(CORE, MART)
        self.at(NOON)

    def restart(self) -> None:
        """Start a new process, which loads its state from the catalog."""
        given = (self._clock, lambda: self.policy, self.routing)
        self.watch, self.notification_worker = IncidentDetector(*given), NotificationWorker(*given)
        self.clock = ImpactClock(self._clock)

    def set(self, **routing: Any) -> None:  # noqa: ANN401 - of its settings
        """Change settings, for a new process."""
        self.routing = msgspec.structs.replace(self.routing, **routing)
        self.restart()

    def look(self, seconds: float) -> list[str]:
        """Run one turn without a new evaluation; return the new events."""
        happened = super().look(seconds)
        self.send()
        self.clock(self.engine)
        return happened

    def pass_(self, seconds: float) -> None:
        """Let time go by, and nothing happen."""
        self._now += seconds

    def send(self) -> None:
        """Run one pass of the sender, which repeats failed attempts."""
        settings = DeliverySettings(fallback=self.routing.fallback, longest_wait_seconds=1)
        ways = dict.fromkeys(("slack", "pagerduty", "webhook"), self.providers)
        sender = Sender(self.engine, ways, settings, clock=self._clock)
        sender.run()
        sender.close()

    def down(self, *targets: str) -> None:
        """Make these targets fail, and all others succeed."""
        self.providers.down = frozenset(targets)

    def fail(self, *, until: float, after: float = 30, **message: Any) -> None:  # noqa: ANN401
        """Fail the job of `core/orders`, make it late `after` seconds later, and run turns."""
        self.estate.fail(CORE, FAILED, **message)
        self.late("job_failed", after=after, until=until)

    def late(self, reason: str, *, until: float, after: float = 30) -> None:
        """Make it late `after` seconds later, evaluate 15 s after that, and run turns."""
        self.estate.say(CORE, "bad", reason, limit_seconds=float(FAILED + after))
        self._now = FAILED + after
        self.until(round(until))

    def recover(self) -> None:
        """Write everything, and make it good."""
        self.estate.say(CORE, "good", limit_seconds=float(DAY))
        self.change(tables.dataset_activity.update().values(last_written_at=micros(self._now)))

    def change(self, statement: Any) -> None:  # noqa: ANN401 - any statement
        """Write to the catalog."""
        with write_transaction(self.engine) as connection:
            connection.execute(statement)

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query to the catalog."""
        with self.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(sql))]

    @property
    def sums(self) -> list[tuple[Any, ...]]:
        """Return good, total and unknown of M8, or nothing without a sample."""
        return self.ask("SELECT good, total, unknown FROM served_counter WHERE sli = 'M8'")

    @property
    def clocks(self) -> list[tuple[Any, ...]]:
        """Return the seconds from failure to fault and acceptance, and the outcome."""
        rows = self.ask(
            "SELECT fault_at, accepted_at, impact_outcome FROM incident ORDER BY opened_at"
        )
        return [(_after(fault), _after(taken), outcome) for fault, taken, outcome in rows]

    def _clock(self) -> Any:  # noqa: ANN401 - an instant
        return from_micros(micros(self._now))


def _after(at: int | None) -> float | None:
    return None if at is None else (at - micros(FAILED)) / 1e6
