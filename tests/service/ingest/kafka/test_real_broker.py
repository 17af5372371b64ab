import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Message, Producer, TopicPartition

from tests.collector.running import Collector
from tests.service.commandline import environ
from tests.service.ingest.kafka.broker import Broker, running_broker
from tests.service.ingest.ship.written import event
from tests.suite.waiting import until

pytestmark = pytest.mark.faults

TOPIC = "openlineage.events"
EVENTS = 3_000
POISON = (b"starting up", b'{"a": 1}, {"b": 2}', b'{"eventTime": 7}')


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """Start a broker with the topic, three partitions."""
    with running_broker(tmp_path, TOPIC, partitions=3) as running:
        yield running


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    """Return a collector whose worker may be killed."""
    running = Collector(tmp_path / "data")
    yield running.ready()
    running.kill()


@pytest.fixture
def feed(tmp_path: Path, broker: Broker, collector: Collector) -> Iterator[Callable[[], int]]:
    """Start `lineward kafka` in place of the one before, which it kills with -9."""
    quick = tmp_path / "client.properties"
    quick.write_text("# the least that a broker allows\nsession.timeout.ms=6000\n")
    variables = {
        "LINEWARD_KAFKA_BOOTSTRAP": broker.bootstrap,
        "LINEWARD_KAFKA_CONFIG_FILE": str(quick),
        "LINEWARD_COLLECTOR_PORT": str(collector.port),
        "LINEWARD_SENDER_SECRET_FILE": str(collector.secret_file),
    }
    started: list[subprocess.Popen[bytes]] = []

    def kill() -> None:
        for process in started:
            process.kill()
            process.wait(30)

    def start() -> subprocess.Popen[bytes]:
        kill()
        with (tmp_path / "kafka.log").open("ab") as log:
            argv = [sys.executable, "-m", "service.cli.main", "kafka"]
            process = subprocess.Popen(argv, env=environ(**variables), stdout=log, stderr=log)
        started.append(process)
        return process

    yield start
    kill()


class Sent:
    """Record of what the broker has acknowledged, kept outside the broker."""

    def __init__(self, bootstrap: str) -> None:
        self.bodies: list[bytes] = []
        settings = {"bootstrap.servers": bootstrap, "enable.idempotence": True, "log_level": 0}
        self._producer = Producer(settings)

    def send(self, *bodies: bytes | None) -> None:
        """Send as OpenLineage's transport does: the key keeps a job's events together."""
        for number, body in enumerate(bodies):
            key = f"run:jobs/etl_{number % 50}"
            self._producer.produce(TOPIC, value=body, key=key, on_delivery=self._note)
            self._producer.poll(0)

    def _note(self, error: object, message: Message) -> None:
        assert error is None
        if (body := message.value()) is not None:
            self.bodies.append(body)

    def all_acknowledged(self) -> bool:
        """Return whether all messages are acknowledged."""
        return self._producer.flush(0.1) == 0


def _stored_bodies(collector: Collector) -> list[bytes]:
    return sorted(bytes(body) for (body,) in collector.rows("SELECT body FROM event"))


def _has_stored(collector: Collector, count: int) -> bool:
    return collector.rows("SELECT count(*) FROM event")[0][0] >= count


def _uncommitted(bootstrap: str) -> int:
    """Return the number of messages behind the group's committed offsets."""
    asked = Consumer({"bootstrap.servers": bootstrap, "group.id": "lineward", "log_level": 0})
    parts = asked.committed([TopicPartition(TOPIC, part) for part in range(3)], timeout=10)
    left = sum(
        asked.get_watermark_offsets(part, timeout=10)[1] - max(part.offset, 0) for part in parts
    )
    asked.close()
    return left


def test_every_event_is_landed_once_through_kills(
    tmp_path: Path, broker: Broker, collector: Collector, feed
):
    """Kill -9 of broker, source and collector's worker while events come; poison in between."""
    sent = Sent(broker.bootstrap)
    feed()
    step = EVENTS // 4
    events = [event(number, padding=number % 500) for number in range(EVENTS)]
    sent.send(*events[:step], *POISON, None)
    until(partial(_has_stored, collector, 1))
    broker.kill()
    sent.send(*events[step : 2 * step])
    broker.start()
    until(partial(_has_stored, collector, step + 1))
    sent.send(*events[2 * step : 3 * step])
    feed()  # the one before is killed
    until(partial(_has_stored, collector, 2 * step + 1))
    sent.send(*events[3 * step :])
    os.kill(until(collector.worker), signal.SIGKILL)

    until(sent.all_acknowledged)
    until(lambda: _uncommitted(broker.bootstrap) == 0)

    assert sorted(sent.bodies) == sorted([*events, *POISON])
    assert _stored_bodies(collector) == sorted(events)
    assert collector.rows("SELECT DISTINCT origin FROM event") == [("kafka",)]
    rejected = {bytes(body) for (body,) in collector.rows("SELECT body FROM rejected")}
    assert rejected == set(POISON)
    log = (tmp_path / "kafka.log").read_text()
    assert "message_is_empty" in log
    assert "Traceback" not in log
