"""Comparison of catalogs by the facts of events, and of the lake by bodies."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from sqlalchemy import Engine, Row, Select, text

from lineage.catalog.tables import metadata
from lineage.input_log.records import read_record
from lineage.input_log.settings import KafkaLog, read_log
from lineage.lake.reading import read_events
from lineage.lake.storage import Lake
from lineage.process.clock import system_clock
from slis.lake.writer import LakeWriter
from slis.settings import SharedPaths
from slis.stream.kafka.client import Offsets
from slis.stream.kafka.log import TopicLog
from slis.stream.landing import BatchLanding
from slis.stream.log.spool_reader import BatchLimits
from tests.slis.lake.lakes import visible

# Facts of events. Other tables depend on evaluations, or on how events were cut into batches.
_FACTS = (
    *("dataset", "dataset_alias", "schema_version", "run", "run_io", "dataset_write"),
    *("dataset_read", "edge", "edge_run", "column_edge", "event", "dataset_producer"),
)
_BY_CLOCK = {"landed_at", "last_seq", "state_rank", "tier_rank", "counted_at", "outcome"}
_ROWS = 10_000  # in memory at once


def contents(engine: Engine, *, but: Iterable[str] = ()) -> dict[str, list[str]]:
    """Return the rows of each table of facts, without these columns, clocks and ranks."""
    left_out = _BY_CLOCK.union(but)
    with engine.connect() as connection:
        return {
            name: sorted(map(repr, connection.execute(_rows(name, left_out)))) for name in _FACTS
        }


def digests(engine: Engine) -> dict[str, int]:
    """Return a number for each table of facts that its rows give, whatever their order."""
    few_at_once = {"yield_per": _ROWS}
    with engine.connect() as connection:
        return {
            name: sum(
                _number(row)
                for row in connection.execute(_rows(name, _BY_CLOCK), execution_options=few_at_once)
            )
            for name in _FACTS
        }


def _number(row: Row[Any]) -> int:
    return int.from_bytes(hashlib.blake2b(repr(row).encode(), digest_size=8).digest())


def _rows(name: str, left_out: Collection[str]) -> Select[Any]:
    table = metadata.tables[name]
    columns = [column for column in table.c if column.name not in left_out]
    return table.select().with_only_columns(*columns)


def different(one: dict[str, list[str]], other: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the first rows that only one of both has, by table."""
    pairs = {name: (Counter(one[name]), Counter(other[name])) for name in one}
    return {
        name: [*sorted(a - b)[:3], *sorted(b - a)[:3]] for name, (a, b) in pairs.items() if a != b
    }


def landed(engine: Engine) -> tuple[int, int]:
    """Return how many events have landed, and how many of them were known before."""
    with engine.connect() as connection:
        counted = "SELECT coalesce(sum(events), 0), coalesce(sum(duplicates), 0) FROM batch"
        events_, duplicates = connection.execute(text(counted)).one()
        return int(events_), int(duplicates)


def land_topic(
    engine: Engine, variables: dict[str, str], place: SharedPaths, most_rows: int = 25_000
) -> None:
    """Land all events that the topic has and the catalog lacks, in this process."""
    most = 128 << 20
    source = TopicLog(read_log(variables), system_clock, most_bytes=most)
    given = {"limits": BatchLimits(most_rows, most), "clock": system_clock, "source": source}
    BatchLanding(engine, place, **given).work_off()


def read_topic(log: KafkaLog) -> list[bytes]:
    """Return the bodies of all events of the topic."""
    offsets = Offsets(log).read().offsets
    left = sum(last - first for first, last in offsets.values())
    consumer = Consumer(log.consumer_settings())
    consumer.assign([TopicPartition(log.topic, one, first) for one, (first, _) in offsets.items()])
    bodies = []
    while left:
        messages = consumer.consume(min(left, 1_000), 1)
        records = [read_record(one.headers(), one.value()) for one in messages if not one.error()]
        left -= len(records)
        bodies += [record.body for record in records if record.is_event]
    consumer.close()
    return bodies


def read_lake(engine: Engine, lake: Lake) -> list[bytes]:
    """Return the bodies that readers see, sorted."""
    folders = visible(LakeWriter(engine, lake, system_clock))
    return sorted(read_events(lake, folders).to_table(columns=["body"])["body"].to_pylist())


def most_files(engine: Engine) -> int:
    """Return the largest number of files of a day of a batch, also of a compacted one."""
    with engine.connect() as connection:
        found = connection.scalar(text("SELECT max(files) FROM lake_folder WHERE NOT is_compacted"))
    return int(found or 0)
