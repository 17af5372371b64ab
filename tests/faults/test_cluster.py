"""Check the pipeline on a cluster: Kafka, S3, PostgreSQL, two workers, and kills."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import pytest
from confluent_kafka import Producer
from sqlalchemy import Engine, text

from collector.shipper.__main__ import CLIENT
from collector.shipper.shipper import Shipper
from collector.spool_file import open_spool
from lineage.catalog.tables import metadata
from lineage.clock import system_clock
from lineage.event_log.settings import KafkaLog, read_log
from lineage.lake.reading import read_events
from lineage.lake.settings import read_settings
from lineage.lake.storage import open_lake
from slis.lake.writer import LakeWriter
from slis.settings import Place
from slis.spool_events import events, fill_spool
from slis.stream.kafka.client import open_consumer
from slis.stream.kafka.log import TopicLog
from slis.stream.landing import Landing
from slis.stream.source import Bounds
from tests.faults.cluster import Cluster
from tests.service.kafka.broker import Broker, running_broker
from tests.service.waiting import until
from tests.slis.lake.lakes import visible
from tests.slis.lake.s3 import create_bucket, lake_variables, s3_server

pytestmark = pytest.mark.faults

TOPIC = "lineward.log"
COLLECTORS = 2
# A round: also where it is cut in two, one part is more than the driver reads by itself.
EVENTS = 3_000
_START = datetime(2026, 11, 20, tzinfo=UTC)
# Facts of events. All else is of evaluations, or of how events were cut into batches.
_FACTS = (
    *("dataset", "dataset_alias", "schema_version", "run", "run_io", "dataset_write"),
    *("dataset_read", "edge", "edge_run", "column_edge", "event", "dataset_producer"),
)
_BY_CLOCK = {"landed_at", "last_seq", "state_rank", "tier_rank"}


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """Start a broker with the topic, three partitions."""
    with running_broker(tmp_path, TOPIC, partitions=3) as running:
        yield running
        open_consumer.cache_clear()


@pytest.fixture
def bucket(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Start an S3 server; return the settings of a lake in a bucket of it."""
    with s3_server() as endpoint:
        create_bucket(endpoint, "lake")
        yield lake_variables(endpoint, "lake/lineward", tmp_path)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Start a master and two workers."""
    running = Cluster(tmp_path / "cluster", workers=2)
    yield running
    running.stop()


class Senders:
    """Collectors with a shipper each: every round has events of its own."""

    def __init__(self, folder: Path, log: KafkaLog) -> None:
        self._folder, self._log = folder, log
        self._left = events(10 * EVENTS, seed=5, start=_START, apart=timedelta(milliseconds=10))
        for number in range(COLLECTORS):
            (folder / f"c-{number}").mkdir()
            open_spool(folder / f"c-{number}" / "spool.db", 1 << 30).close()

    def send(self) -> None:
        """Have each collector receive its part of a round, and ship it to the topic."""
        settings = CLIENT | self._log.producer_settings() | {"log_level": "0"}
        for number in range(COLLECTORS):
            place = self._folder / f"c-{number}"
            fill_spool(place / "spool.db", islice(self._left, EVENTS // COLLECTORS))
            given = {"topic": TOPIC, "collector": place.name, "clock": system_clock}
            shipper = Shipper(place, Producer(settings), **given)
            while shipper.step():
                continue


def _contents(engine: Engine) -> dict[str, list[str]]:
    with engine.connect() as connection:
        found = {}
        for name in _FACTS:
            table = metadata.tables[name]
            columns = [column for column in table.c if column.name not in _BY_CLOCK]
            rows = connection.execute(table.select().with_only_columns(*columns))
            found[name] = sorted(map(repr, rows))
        return found


def _different(one: dict[str, list[str]], other: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the first rows that only one of both has, by table."""
    pairs = {name: (Counter(one[name]), Counter(other[name])) for name in one}
    return {
        name: [*sorted(a - b)[:3], *sorted(b - a)[:3]] for name, (a, b) in pairs.items() if a != b
    }


def _landed(engine: Engine) -> tuple[int, int]:
    with engine.connect() as connection:
        counted = "SELECT coalesce(sum(events), 0), coalesce(sum(duplicates), 0) FROM batch"
        events_, duplicates = connection.execute(text(counted)).one()
        return int(events_), int(duplicates)


def test_what_executors_land_through_kills_is_what_the_driver_lands_alone(
    cluster, broker, bucket, databases, tmp_path
):
    """Kill an executor, a worker and the driver, each while a batch is due; compare the facts."""
    variables = {"LINEWARD_LOG": f"kafka://{broker.bootstrap}/{TOPIC}"}
    log = read_log(variables)
    senders = Senders(tmp_path, log)
    engine, alone = databases.take(), databases.take()
    (tmp_path / "data").mkdir()
    environment = variables | bucket
    environment |= {
        "LINEWARD_DATA_DIR": str(tmp_path / "data"),
        "LINEWARD_CATALOG_URL": engine.url.render_as_string(hide_password=False),
        "LINEWARD_PIPELINE_EVALUATE_SECONDS": "3600",
        "LINEWARD_PIPELINE_POLL_SECONDS": "3",
    }
    faults = [lambda: cluster.kill_executor(0), lambda: cluster.kill_worker(1), lambda: None]
    for number, fault in enumerate(faults, start=1):
        driver = cluster.submit(environment)
        try:
            # Before, the driver reads by itself.
            until(lambda number=number: cluster.log("driver").count("spark_opened") == number)
            senders.send()
            fault()
            whole = number * EVENTS, 0
            until(lambda whole=whole: _landed(engine) == whole, told=lambda: cluster.log("driver"))
        finally:
            os.killpg(driver.pid, signal.SIGKILL)
            driver.wait(30)

    source = TopicLog(log, system_clock, most_bytes=128 << 20)
    given = {"bounds": Bounds(25_000, 128 << 20), "clock": system_clock, "source": source}
    Landing(alone, Place(data_dir=tmp_path / "data"), **given).work_off()

    assert _different(_contents(engine), _contents(alone)) == {}
    writer = LakeWriter(engine, open_lake(tmp_path, read_settings(bucket)), system_clock)
    folders = visible(writer)
    lake = read_events(writer.lake, folders).to_table(columns=["body"])["body"].to_pylist()
    sent = [body for number in range(COLLECTORS) for body in _bodies(tmp_path / f"c-{number}")]
    assert sorted(lake) == sorted(sent)
    # The driver writes one file a day; tasks write one each.
    assert max(len(folder.names) for folder in folders) > 1


def _bodies(place: Path) -> list[bytes]:
    with closing(open_spool(place / "spool.db", 1 << 30)) as spool:
        return [body for (body,) in spool.execute("SELECT body FROM event")]
