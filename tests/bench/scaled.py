"""CPU time of an event in scaled mode, on one worker and on two, beside embedded mode.

Run by hand: `python -m tests.bench.scaled [EVENTS [SLICES [WORKERS]]]`. It fills a topic, and lands
it once for each number of workers (`1,2`), with an empty catalog in PostgreSQL and an empty lake on
S3 each time. Embedded mode lands a spool. Every mode does the same work, without evaluations.

The first slice pays for the start of Python and the JVMs: what it costs beyond the other slices is
a figure of its own. The benchmark asserts only that both catalogs have the same facts.
"""

import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final, NamedTuple

from confluent_kafka import Producer
from rich.table import Table
from sqlalchemy import Engine

from collector.shipper.__main__ import CLIENT
from collector.shipper.producing import kafka_key
from collector.shipper.window import MOST_RECORDS
from lab.bench.catalogs import empty_catalog
from lineage.input_log.records import Record, headers_of
from lineage.input_log.settings import KafkaLog
from lineage.process.clock import system_clock, to_micros
from lineage.process.logs import log_to_stderr
from service.cli.terminal import console
from slis.made_up_events import fill_spool, make_events
from slis.settings import SharedPaths
from tests.bench import landing
from tests.bench.slices import Cost, Measured, Meter, mark_slices
from tests.faults.cluster import Cluster
from tests.faults.comparing import digests
from tests.service.ingest.kafka.broker import Broker, running_broker
from tests.slis.lake.s3 import S3Server, create_bucket, lake_variables
from tests.suite.postgres_server import running_postgres

_TOPIC, _PARTITIONS = "lineward.log", 3
_MAIN: Final = Path(landing.__file__)
_AGO, _APART = timedelta(days=1), timedelta(milliseconds=10)
_FLUSH_SECONDS = 60.0
# A spool has 3.4 kB per event; a longer one has the same cost per event.
_MOST_OF_EMBEDDED: Final = 200_000
# A batch of a backlog has 25,000 events: a slice must be longer.
_LEAST_SLICE: Final = 30_000


class Servers(NamedTuple):
    """Servers that the modes share; CPU time of Kafka and S3 is not counted."""

    root: Path
    broker: Broker
    s3: S3Server
    postgres: str


def main(count: str = "400000", slices: str = "8", workers: str = "1,2") -> None:
    """Print what an event costs in each mode, the ratio to embedded mode, and all slices."""
    log_to_stderr("warning")
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # a line for each request
    with tempfile.TemporaryDirectory(prefix="lineward-bench-") as folder:
        found = []
        numbers = [int(number) for number in workers.split(",")]
        for one in _measure(Path(folder), int(count), int(slices), numbers):
            console().print(_slices(one))
            found.append(one)
    console().print(_summary(found))


def _summary(found: list[Measured]) -> Table:
    table = Table("mode", *Cost._fields, "together", "ratio", "dearest slice", "start, CPU s")
    for one in found:
        cost, ratio = one.event, one.event.total / found[0].event.total
        own = (*_figures(cost), f"{ratio:.2f}", f"{one.spread:.2f}", f"{one.start_seconds:.0f}")
        table.add_row(one.name, *own)
    return table


def _slices(one: Measured) -> Table:
    table = Table("to event", *Cost._fields, "together", title=one.name)
    first = one.marks[0]
    for end, cost in ((first.events, first.spent.of_each(first.events)), *one.slices):
        table.add_row(f"{end:,}", *_figures(cost))
    return table


def _figures(cost: Cost) -> list[str]:
    return [f"{figure:.0f}" for figure in (*cost, cost.total)]


def _measure(root: Path, count: int, slices: int, workers: Sequence[int]) -> Iterator[Measured]:
    with running_postgres() as postgres:
        for name, url in (("embedded", None), ("embedded, PostgreSQL", postgres.url)):
            yield _embedded(
                name, root / name.split()[-1], url, min(count, _MOST_OF_EMBEDDED), slices
            )
        with _servers(root, postgres.url) as servers:
            _fill(servers.broker, count)
            facts: list[dict[str, int]] = []
            for number in workers:
                yield _scaled(servers, number, _ends(count, slices), facts)
            assert all(each == facts[0] for each in facts)


def _ends(count: int, slices: int) -> list[int]:
    slices = min(slices, count // _LEAST_SLICE)
    return [count * number // slices for number in range(1, slices + 1)]


def _embedded(name: str, folder: Path, url: str | None, count: int, slices: int) -> Measured:
    with empty_catalog(folder, url) as (place, engine):
        start = system_clock() - _AGO
        fill_spool(place.spool, make_events(count, seed=5, start=start, apart=_APART))
        process = subprocess.Popen(
            [sys.executable, str(_MAIN)], env=os.environ | _variables(place), start_new_session=True
        )
        return _watched(name, engine, process, (), _ends(count, slices))


def _variables(place: SharedPaths) -> dict[str, str]:
    found = {"LINEWARD_DATA_DIR": str(place.data_dir)}
    return found | ({"LINEWARD_CATALOG_URL": place.catalog_url} if place.catalog_url else {})


@contextmanager
def _servers(root: Path, postgres: str) -> Iterator[Servers]:
    with running_broker(root, _TOPIC, partitions=_PARTITIONS) as broker:
        s3 = S3Server()
        create_bucket(s3.endpoint, "lake")
        yield Servers(root, broker, s3, postgres)
        s3.stop()


def _fill(broker: Broker, count: int) -> None:
    """Write events to the topic as a shipper does."""
    log = KafkaLog(bootstrap=broker.bootstrap, topic=_TOPIC)
    producer = Producer(CLIENT | log.producer_settings())
    made = make_events(count, seed=5, start=system_clock() - _AGO, apart=_APART)
    for number, (at, body) in enumerate(made):
        if number % MOST_RECORDS == 0:
            producer.flush(_FLUSH_SECONDS)
        window = f"{number // MOST_RECORDS}"
        given = {"received_at": to_micros(at), "seq": number + 1, "window": window, "body": body}
        record = Record(kind="run", collector="collector-0", origin="http", **given)  # type: ignore[arg-type]
        producer.produce(_TOPIC, value=body, key=kafka_key(record), headers=headers_of(record))
    assert producer.flush(_FLUSH_SECONDS) == 0


def _scaled(
    servers: Servers, workers: int, ends: list[int], facts: list[dict[str, int]]
) -> Measured:
    name = f"scaled, {workers} worker{'s'[: workers - 1]}"
    settings = lake_variables(servers.s3.endpoint, f"lake/{workers}", servers.root)
    settings["LINEWARD_LOG"] = f"kafka://{servers.broker.bootstrap}/{_TOPIC}"
    folder = servers.root / f"workers{workers}"
    with empty_catalog(folder, servers.postgres) as (place, engine):
        cluster = Cluster(servers.root / f"cluster{workers}", workers)
        try:
            driver = cluster.submit("driver", settings | _variables(place), _MAIN, cores=workers)
            pids = [one.pid for one in cluster.workers]
            found = _watched(name, engine, driver, pids, ends)
        finally:
            cluster.stop()
        facts.append(digests(engine))
    return found


def _watched(
    name: str,
    engine: Engine,
    driver: subprocess.Popen[bytes],
    workers: Sequence[int],
    ends: list[int],
) -> Measured:
    meter = Meter(engine, driver.pid, workers)
    try:
        return Measured(name, mark_slices(meter, ends, lambda: driver.poll() is None))
    finally:
        if driver.poll() is None:
            os.killpg(driver.pid, signal.SIGKILL)
        driver.wait(30)


if __name__ == "__main__":
    main(*sys.argv[1:])
