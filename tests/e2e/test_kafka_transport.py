"""Settings of docs/sources.md, with a real job, the real listener and a real broker."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from lab.demo.spark import ivy_conf
from service.ingest.spark.spark_conf import listener_package
from tests.collector.running import ROOT, Collector
from tests.service.commandline import environ
from tests.service.ingest.kafka.broker import Broker, running_broker
from tests.suite.waiting import until

pytestmark = pytest.mark.e2e

TOPIC, PARTITIONS = "openlineage.events", 2
_SETTING = re.compile(r"^(spark\.\S+) +(\S+)$", re.MULTILINE)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """Start a broker with the topic."""
    with running_broker(tmp_path, TOPIC, partitions=PARTITIONS) as running:
        yield running


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    """Start a collector for the events."""
    running = Collector(tmp_path / "data")
    yield running.ready()
    running.kill()


def _read_documented_settings(broker: Broker) -> dict[str, str]:
    """Return the block of settings under `A Kafka topic`, with this broker's address."""
    text = (ROOT / "docs" / "sources.md").read_text().split("## A Kafka topic")[1]
    found = dict(_SETTING.findall(text.split("```")[1]))
    return found | {
        "spark.openlineage.transport.properties.bootstrap.servers": broker.bootstrap,
    }


def _read_topic(broker: Broker) -> list[bytes]:
    """Return all records of the topic up to its end, as another group reads it."""
    settings = {"bootstrap.servers": broker.bootstrap, "group.id": "a test", "log_level": 0}
    reading = Consumer(settings)
    parts = [TopicPartition(TOPIC, number, OFFSET_BEGINNING) for number in range(PARTITIONS)]
    reading.assign(parts)
    count = sum(reading.get_watermark_offsets(part, timeout=30)[1] for part in parts)
    found: list[bytes] = []

    def is_whole() -> bool:
        taken = (one for one in reading.consume(500, 1.0) if one.error() is None)
        found.extend(one.value() or b"" for one in taken)
        return len(found) == count

    until(is_whole)
    reading.close()
    return found


def test_events_of_the_listener_in_a_topic_land(
    tmp_path: Path, broker: Broker, collector: Collector, run
):
    """Land every event of a real job, to the byte, with the documented settings."""
    lake = tmp_path / "lake"
    (lake / "pages_of_a").mkdir(parents=True)
    (lake / "pages_of_a" / "pages.txt").write_text("/a\n")
    (lake / "again").touch()
    conf = _read_documented_settings(broker)
    assert conf["spark.jars.packages"].split(",")[0] == listener_package()

    run("pages_by_turn", lake, conf | ivy_conf())
    variables = {
        "LINEWARD_KAFKA_BOOTSTRAP": broker.bootstrap,
        "LINEWARD_COLLECTOR_PORT": str(collector.port),
        "LINEWARD_SENDER_SECRET_FILE": str(collector.secret_file),
    }
    with (tmp_path / "kafka.log").open("wb") as log:
        feed = subprocess.Popen(
            [sys.executable, "-m", "service.cli.main", "kafka"],
            env=environ(**variables),
            stdout=log,
            stderr=log,
        )
    try:
        sent = _read_topic(broker)
        until(lambda: _read_stored(collector) == sorted(sent))
        assert any(b'"COMPLETE"' in body and b"all_pages_again" in body for body in sent)
        feed.send_signal(signal.SIGTERM)
        assert feed.wait(30) == 0
    finally:
        feed.kill()
        feed.wait(30)


def _read_stored(collector: Collector) -> list[bytes]:
    return sorted(bytes(body) for (body,) in collector.rows("SELECT body FROM event"))
