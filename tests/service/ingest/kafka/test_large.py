import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lineage import origins
from lineage.process.clock import system_clock
from service.ingest.collector_client import CollectorClient, Target
from service.ingest.event_uploader import EventUploader
from service.ingest.kafka.feed import Feed
from slis.indicators.error_rate import rejections_since
from tests.collector.running import Collector
from tests.service.ingest.kafka.test_feed import Topic
from tests.service.ingest.ship.written import event

_LARGE = event(1, padding=10_500_000)


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    """Start a real one that accepts 10 MiB at most."""
    running = Collector(tmp_path / "data").ready()
    yield running
    running.kill()


def _feed(topic: Topic, collector: Collector) -> Feed:
    target = Target(url=collector.url, origin=origins.KAFKA, secret_file=collector.secret_file)
    return Feed(topic, EventUploader(CollectorClient(target, give_up_seconds=30)))  # type: ignore[arg-type]


def _rows(collector: Collector, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(collector.folder / "spool.db")) as spool:
        return spool.execute(sql).fetchall()


def test_an_event_that_is_too_large_is_kept_with_its_place_and_counted(collector: Collector):
    """Commit its offset: from then on the row of its rejection names it."""
    topic = Topic([event(0), _LARGE, event(2)])

    _feed(topic, collector).take()

    kept = _rows(collector, "SELECT reason, detail, origin, body FROM rejected")
    place = f"$: {len(_LARGE)} bytes at openlineage.events/0@1"
    detail = f"{place}: larger than the maximum size of an event;"
    assert topic.committed == 3
    assert _rows(collector, "SELECT count(*) FROM event") == [(2,)]
    assert kept == [("too_large", f"{detail} its head is stored", "kafka", _LARGE[:65_536])]
    rejections = rejections_since(collector.folder / "spool.db", 0, system_clock)
    assert rejections is not None
    assert [row[1:] for row in rejections.counts] == [("too_large", "live", 1)]


def test_an_event_beyond_the_collector_s_bound_is_kept(tmp_path: Path):
    """Store its rejection if the collector, whose bound may be lower, answers 413."""
    small = Collector(tmp_path / "small", max_body_bytes=100_000, max_inflated_bytes=100_000)
    try:
        small.ready()
        topic = Topic([event(0), event(1, padding=200_000)])
        _feed(topic, small).take()
        assert _rows(small, "SELECT count(*) FROM event") == [(1,)]
        assert _rows(small, "SELECT reason FROM rejected") == [("too_large",)]
    finally:
        small.kill()
