"""Notifier that enqueues and sends, and fakes of all providers."""

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
import trustme
from sqlalchemy import Engine, select

from alerts.notify import delivery_queries
from alerts.notify.channels.channel import Channel, ChannelTask, DeliveryOutcome
from alerts.notify.channels.name import parse_channel
from alerts.notify.channels.registry import build_channels
from alerts.notify.message import Message
from alerts.notify.outbox import enqueue
from alerts.notify.sender import Sender
from alerts.notify.settings import DeliverySettings
from lineage.catalog.engine import catalog_url, migrate, open_catalog, write_transaction
from lineage.catalog.reader import CatalogReader, open_reader
from lineage.catalog.tables import notification
from tests.alerts.notify.messages import Ticking, message
from tests.fakes.pagerduty import FakePagerDuty
from tests.fakes.receiver import FakeReceiver
from tests.fakes.settings import delivery_settings
from tests.fakes.slack import FakeSlack

DATA = "slack:C0000001"
PAGER = "pagerduty:orders.key"
RUNBOOK = "https://lineward.test/runbooks/NotificationDeliveryFailing"
TICKETS = "webhook:tickets"


class Fakes(NamedTuple):
    """Fakes of all providers."""

    slack: FakeSlack
    pagerduty: FakePagerDuty
    receiver: FakeReceiver


class Notifier:
    """Outbox and sender; `settings` and `sender` can be replaced, as by a restart."""

    def __init__(self, engine: Engine, settings: DeliverySettings, clock: Ticking) -> None:
        self.engine = engine
        self.settings = settings
        self.clock = clock
        self._channels: dict[str, Channel] | None = None

    def notify(self, message: Message, *channels: str) -> None:
        """Enqueue a message as of now."""
        now = msgspec.structs.replace(message, at=self.clock.micros)
        with write_transaction(self.engine) as connection:
            for channel in channels:
                enqueue(connection, now, parse_channel(channel))

    def set(self, **changed: object) -> None:
        """Change settings for the next pass."""
        self.settings = msgspec.structs.replace(self.settings, **changed)
        self._channels = None

    def sender(self) -> Sender:
        """Return a sender that remembers nothing of the one before."""
        if self._channels is None:  # these know nothing either, and making them takes time
            self._channels = build_channels(self.settings, clock=self.clock)
        spread = random.Random(1)  # noqa: S311 - of the waits
        return Sender(
            self.engine,
            self._channels,
            self.settings,
            clock=self.clock,
            spread=spread,
            runbook=RUNBOOK,
        )

    def run(self) -> int:
        """Run one pass, as after a restart."""
        sender = self.sender()
        try:
            return sender.run()
        finally:
            sender.close()

    def resolve_after_rejection(self, pagerduty: FakePagerDuty) -> None:
        """Reject the trigger in PagerDuty, and accept its resolve."""
        pagerduty.status = 400
        self.notify(message(1), PAGER)
        self.run()
        pagerduty.status = None
        self.notify(message(2, "resolved"), PAGER)
        self.run()

    def run_for(self, seconds: int, step: int = 10) -> int:
        """Run passes while time goes by."""
        taken = 0
        for _ in range(0, seconds, step):
            taken += self.run()
            self.clock.pass_(step)
        return taken

    def reader(self) -> AbstractContextManager[CatalogReader]:
        """Return a reader like the exporter's."""
        return open_reader(self.engine.url.render_as_string(hide_password=False))

    def rows(self) -> list[tuple[str, int, str, str]]:
        """Return channel, revision, state and reason of all messages."""
        columns = (notification.c.channel, notification.c.revision, notification.c.state)
        with self.engine.connect() as connection:
            query = select(*columns, notification.c.reason).order_by(*columns)
            return [tuple(row) for row in connection.execute(query)]


@pytest.fixture
def clock() -> Ticking:
    return Ticking()


@pytest.fixture
def slack(clock: Ticking) -> Iterator[FakeSlack]:
    fake = FakeSlack(clock)
    fake.start()
    yield fake
    fake.stop()


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an empty catalog: a copy takes a tenth of the time to make one."""
    folder = tmp_path_factory.mktemp("migrated")
    engine = open_catalog(catalog_url(folder))
    migrate(engine)
    engine.dispose()
    return folder


@pytest.fixture
def embedded(tmp_path: Path, migrated: Path) -> Iterator[Engine]:
    shutil.copytree(migrated, tmp_path, dirs_exist_ok=True)
    engine = open_catalog(catalog_url(tmp_path))
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    """Return one authority for the session: keys take time."""
    return trustme.CA()


@pytest.fixture
def pagerduty(authority: trustme.CA) -> Iterator[FakePagerDuty]:
    fake = FakePagerDuty(authority)
    fake.listen()
    yield fake
    fake.stop()


@pytest.fixture
def receiver() -> Iterator[FakeReceiver]:
    fake = FakeReceiver()
    fake.start()
    yield fake
    fake.stop()


@pytest.fixture
def fakes(slack: FakeSlack, pagerduty: FakePagerDuty, receiver: FakeReceiver) -> Fakes:
    return Fakes(slack, pagerduty, receiver)


@pytest.fixture
def notifier(embedded: Engine, clock: Ticking, tmp_path: Path, fakes: Fakes) -> Notifier:
    """Return a notifier on a catalog of SQLite, with every type of channel."""
    (tmp_path / "orders.key").write_text("R" * 32)
    (tmp_path / "webhook").write_text(fakes.receiver.secret)
    hook = {"webhook_url": fakes.receiver.url, "webhook_secret_file": tmp_path / "webhook"}
    settings = delivery_settings(fakes.slack, fakes.pagerduty, tmp_path, **hook)
    return Notifier(embedded, settings, clock)


@pytest.fixture
def outcome(notifier: Notifier) -> Callable[[str], DeliveryOutcome]:
    """Return a function that makes one attempt and returns its outcome."""

    def _of(channel: str) -> DeliveryOutcome:
        kind, _, target = channel.partition(":")
        with_fakes = build_channels(notifier.settings, clock=notifier.clock)
        return with_fakes[kind].send(ChannelTask(message(1), target))

    return _of


@pytest.fixture
def counted(
    notifier: Notifier,
) -> Callable[[delivery_queries.Metric], dict[tuple[str, str], float]]:
    """Return a function that reads the series of a metric by channel and label."""

    def read(metric: delivery_queries.Metric) -> dict[tuple[str, str], float]:
        with notifier.reader() as reader:
            rows = delivery_queries.load_counts(reader, metric)
        return {(row.channel, row.label): row.value for row in rows}

    return read
