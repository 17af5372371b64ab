"""Log of a real broker: from spools to the rows of a batch, through kills."""

import hashlib
from contextlib import closing
from functools import partial

import pytest
from confluent_kafka import Producer

from collector.shipper.__main__ import CLIENT
from collector.shipper.producing import NotShippedError
from collector.shipper.shipper import Shipper
from collector.spool_file import open_spool
from lineage.input_log.settings import read_log
from lineage.lake.storage import open_lake
from lineage.process.clock import system_clock
from slis.stream.facts import extract_from_table
from slis.stream.kafka import portion as portions
from slis.stream.kafka.client import open_consumer, read_on_executor
from slis.stream.kafka.log import TopicLog
from slis.stream.log.spool_reader import BatchLimits
from slis.stream.on_executors import extract_on_executors
from tests.service.ingest.kafka.broker import running_broker
from tests.service.ingest.ship.written import event
from tests.suite.waiting import until

pytestmark = pytest.mark.faults

EVENTS = 1_200  # of each collector: two windows


@pytest.fixture
def broker(tmp_path):
    """Start a broker with the topic, three partitions."""
    with running_broker(tmp_path, "lineward.log", partitions=3) as running:
        yield running
        open_consumer.cache_clear()


@pytest.fixture
def log(broker):
    """Return the settings of the pipeline and of the shippers."""
    return read_log({"LINEWARD_LOG": f"kafka://{broker.bootstrap}/lineward.log"})


@pytest.fixture
def shippers(tmp_path, log):
    """Make two spools, and shippers of them: each call starts one, as a new process does."""
    # Requests without an answer are repeated: the default of 30 s would make a long test.
    settings = CLIENT | log.producer_settings() | {"message.timeout.ms": "3000", "log_level": "0"}
    for number in range(2):
        folder = tmp_path / f"c-{number}"
        folder.mkdir()
        with closing(open_spool(folder / "spool.db", 1 << 30)) as spool:
            spool.execute("BEGIN")
            for body in map(event, range(number, 2 * EVENTS, 2)):
                row = hashlib.sha256(body).digest(), 1, "http", "run", body
                spool.execute(
                    "INSERT INTO event (body_hash, received_at, origin, kind, body)"
                    " VALUES (?, ?, ?, ?, ?)",
                    row,
                )
            spool.execute("COMMIT")

    def start(number):
        name = f"c-{number}"
        given = {"topic": log.topic, "collector": name, "clock": system_clock}
        return Shipper(tmp_path / name, Producer(settings), **given)

    return start


def ship(shipper):
    """Ship until nothing waits; return whether a window failed on the way."""
    has_failed = False
    while True:
        try:
            if not shipper.step():
                return has_failed
        except NotShippedError:
            has_failed = True


def test_every_event_is_read_once_through_a_kill_of_the_broker(  # noqa: PLR0913, PLR0917 - fixtures
    spark, embedded, broker, log, shippers, monkeypatch, tmp_path
):
    """Compare what the driver reads with what executors read, by the numbers of the plan."""
    shippers(0).step()
    broker.kill()
    killed = shippers(0)
    with pytest.raises(NotShippedError):
        killed.step()
    broker.start()
    broker.ready()
    ship(shippers(0))
    ship(shippers(1))
    source = TopicLog(log, system_clock, most_bytes=128 << 20)
    until(source.is_ready)

    portion = source.read_next(embedded, lambda _: BatchLimits(100_000, 128 << 20))
    by_driver = portion.table().sort_by("seq")
    monkeypatch.setattr(portions, "_DRIVER_RECORDS", 0)
    large = source.read_next(embedded, lambda _: BatchLimits(100_000, 128 << 20))
    lake, read = open_lake(tmp_path), partial(read_on_executor, log=log)
    found = extract_on_executors(large.parts(spark), read, lake, "folder")
    large._note(found.others)  # noqa: SLF001 - as `land` does

    assert sorted(by_driver["body"].to_pylist()) == sorted(map(event, range(2 * EVENTS)))
    assert sorted(found.facts.events) == extract_from_table(by_driver).events
    assert sum(file.events for file in found.files) == 2 * EVENTS
    assert len(set(by_driver["seq"].to_pylist())) == 2 * EVENTS
    assert large.size() == portion.size() == sum(len(event(n)) for n in range(2 * EVENTS))
