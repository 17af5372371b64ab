"""CPU time of an event in scaled mode, on one worker and on two, beside embedded mode.

Run by hand: `python -m tests.bench.scaled [EVENTS]`. It fills a topic, and lands it once for each
number of workers, with an empty catalog in PostgreSQL and an empty lake on S3 each time. The first
fifth of the events is not measured: Spark starts meanwhile. It asserts only that both catalogs have
the same facts.
"""

import logging
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Consumer, TopicPartition
from rich.table import Table
from sqlalchemy import Engine

from lineage.logs import log_to_stderr
from service.terminal import console
from slis.bench_catalogs import CatalogMeter, empty_catalog
from slis.bench_pipeline import Size, measure_backlog
from slis.footprint import CpuMeter
from tests.faults.cluster import Cluster
from tests.faults.comparing import contents, different, landed
from tests.faults.pods import Sender, start_pods
from tests.service.kafka.broker import Broker, running_broker
from tests.service.waiting import until
from tests.slis.lake.s3 import S3Server, create_bucket, lake_variables
from tests.suite.postgres_server import running_postgres

_TOPIC, _PARTITIONS = "lineward.log", 3
_SECONDS = 600.0  # that a pipeline may take
_WARM_UP = 5  # the part of the events that is not measured
_MICROS = 1_000_000


class Cost(NamedTuple):
    """CPU time of an event, in microseconds.

    Attributes:
        driver: with all its threads and processes.
        workers: of Spark, and their executors.
        server: PostgreSQL; None for SQLite, which is a part of the driver.
    """

    name: str
    driver: float
    workers: float
    server: float | None

    @property
    def total(self) -> float:
        """Return the CPU time of all processes together."""
        return self.driver + self.workers + (self.server or 0.0)


def main(count: str = "200000") -> None:
    """Print what an event costs in each mode, and the ratio to embedded mode."""
    log_to_stderr("warning")
    with tempfile.TemporaryDirectory(prefix="lineward-bench-") as folder:
        found = list(_costs(Path(folder), int(count)))
    table = Table("mode", "driver", "workers", "PostgreSQL", "together", "ratio")
    for one in found:
        parts = (f"{part:.0f}" for part in (one.driver, one.workers, one.server or 0.0, one.total))
        table.add_row(one.name, *parts, f"{one.total / found[0].total:.2f}")
    console().print(table)


def _costs(root: Path, count: int) -> Iterator[Cost]:
    with running_postgres() as server:
        measure_backlog(root / "warm", None, count // _WARM_UP, seed=1)
        for name, url in (("embedded", None), ("embedded, PostgreSQL", server.url)):
            yield _of_backlog(name, measure_backlog(root / name.split()[-1], url, count, seed=2))
        with _servers(root) as (broker, s3):
            _fill(root, broker, count)
            settings = _settings(root, broker, s3)
            yield from _of_clusters(root, server.url, settings, count)


def _of_backlog(name: str, size: Size) -> Cost:
    return Cost(name, size.cpu_microseconds, 0.0, size.server_cpu_microseconds)


@contextmanager
def _servers(root: Path) -> Iterator[tuple[Broker, S3Server]]:
    """Start a broker with the topic, and an S3 server, whose CPU time is no part of Lineward's."""
    with running_broker(root, _TOPIC, partitions=_PARTITIONS) as broker:
        logging.getLogger("werkzeug").setLevel(logging.WARNING)  # a line for each request
        s3 = S3Server()
        create_bucket(s3.endpoint, "lake")
        yield broker, s3
        s3.stop()


def _fill(root: Path, broker: Broker, count: int) -> None:
    """Have a collector and its shipper bring so many events to the topic."""
    [pod] = start_pods(root, f"kafka://{broker.bootstrap}/{_TOPIC}", 1)
    Sender([pod], seed=5).post(count)
    until(lambda: _records(broker) >= count, seconds=_SECONDS)
    pod.stop()


def _records(broker: Broker) -> int:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "bench"})
    ends = [
        consumer.get_watermark_offsets(TopicPartition(_TOPIC, number), timeout=30)[1]
        for number in range(_PARTITIONS)
    ]
    consumer.close()
    return sum(ends)


def _settings(root: Path, broker: Broker, s3: S3Server) -> dict[str, str]:
    return lake_variables(s3.endpoint, "lake/lineward", root) | {
        "LINEWARD_LOG": f"kafka://{broker.bootstrap}/{_TOPIC}",
        "LINEWARD_PIPELINE_EVALUATE_SECONDS": "3600",
    }


def _of_clusters(root: Path, url: str, settings: dict[str, str], count: int) -> Iterator[Cost]:
    with ExitStack() as opened:
        facts = []
        for workers in (1, 2):
            name = f"scaled, {workers} worker{'s'[: workers - 1]}"
            place, engine = opened.enter_context(empty_catalog(root / f"workers{workers}", url))
            own = {
                "LINEWARD_DATA_DIR": str(place.data_dir),
                "LINEWARD_CATALOG_URL": str(place.catalog_url),
                "LINEWARD_LAKE_URL": f"{settings['LINEWARD_LAKE_URL']}/{workers}",
            }
            yield _of_cluster(
                name, Cluster(root / f"cluster{workers}", workers), engine, settings | own, count
            )
            facts.append(contents(engine))
        assert different(*facts) == {}


def _of_cluster(
    name: str, cluster: Cluster, engine: Engine, settings: dict[str, str], count: int
) -> Cost:
    driver = cluster.submit("driver", settings)
    try:
        until(lambda: landed(engine)[0] >= count // _WARM_UP, seconds=_SECONDS)
        meters = CpuMeter(driver.pid), CpuMeter(*(one.pid for one in cluster.workers))
        server, before = CatalogMeter(engine), landed(engine)[0]
        until(lambda: landed(engine)[0] == count, seconds=_SECONDS)
        spent = [*(meter.seconds() for meter in meters), server.cpu_seconds() or 0.0]
        return Cost(name, *(seconds * _MICROS / (count - before) for seconds in spent))
    finally:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait(30)
        cluster.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
