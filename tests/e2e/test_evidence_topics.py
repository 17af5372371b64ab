"""Topics that streams read, by event logs of real Spark and a real broker."""

import copy
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from lab.demo.spark import file, listener_conf
from slis.evidence import plans
from slis.indicators.accuracy.catalog import compare
from tests.collector.running import ROOT
from tests.e2e.kinds import Estate, events_of, run_job, short
from tests.service.ingest.kafka.broker import Broker
from tests.slis.stream.spools import rows

pytestmark = pytest.mark.e2e

_JARS = ROOT / "build" / "spark-kafka" / "jars"
_SENT = {"orders": 3, "returns": 2}
_READ = """
    SELECT DISTINCT r.name, w.name FROM execution e
    JOIN execution_io wi ON wi.execution_key IN (e.execution_key, e.stream_key)
        AND wi.direction = 'write'
    JOIN dataset w ON w.dataset_key = wi.dataset_key
    JOIN execution_io ri ON ri.execution_key = e.stream_key AND ri.direction = 'read'
    JOIN dataset r ON r.dataset_key = ri.dataset_key
"""
_EDGES = """
    SELECT u.name, d.name FROM edge e JOIN dataset u ON u.dataset_key = e.upstream_key
    JOIN dataset d ON d.dataset_key = e.downstream_key
"""
_ROWS = """
    SELECT d.name, max(io.evidence_rows) FROM run_io io
    JOIN dataset d ON d.dataset_key = io.dataset_key
    WHERE io.evidence_rows IS NOT NULL GROUP BY d.name
"""
_OUTCOMES = """
    SELECT u.name, d.name, c.outcome FROM edge_check c
    JOIN dataset u ON u.dataset_key = c.upstream_key
    JOIN dataset d ON d.dataset_key = c.downstream_key
"""
_OF_FILES = {("orders", "landed"), ("orders", "by_batch"), ("returns", "chosen")}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Start a broker whose topics have records."""
    running = Broker(tmp_path_factory.mktemp("kafka") / "broker").ready()
    producer = Producer({"bootstrap.servers": running.bootstrap, "log_level": 0})
    for topic in (*_SENT, "copied"):
        running.create_topic(topic, partitions=1)
        for number in range(_SENT.get(topic, 0)):
            producer.produce(topic, str(number).encode())
    assert producer.flush(30) == 0
    yield running
    running.kill()


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, broker: Broker) -> Path:
    """Run `jobs/topics.py` with its listener; return its folder."""
    assert _JARS.is_dir(), f"{_JARS} is not there: run scripts/setup.sh test"
    folder = tmp_path_factory.mktemp("topics")
    conf = listener_conf(file(folder / "events.jsonl"), namespace="kinds")
    jars = {"spark.jars": ",".join(str(jar) for jar in sorted(_JARS.glob("*.jar")))}
    run_job("topics", folder, conf | jars, broker.bootstrap)
    return folder


@pytest.fixture
def estate(spark, catalog, tmp_path):
    return Estate(spark, catalog, tmp_path)


def _pairs(estate, query):
    return {tuple(short(value) for value in row) for row in rows(estate.catalog, query)}


def _drop_inputs(events, *, inputs_of=()):
    """Return the events, without inputs of runs whose job's name has this end."""
    copied = copy.deepcopy(events)
    for event in copied:
        if event["job"]["name"].endswith(inputs_of):
            event["inputs"] = []
    return copied


def test_topics_that_a_stream_read_are_known_from_its_log(estate, ran):
    """Subscribe by name, by pattern and by partition; events named each topic once."""
    estate.land(events_of(ran))

    assert estate.scan(ran / "logs").problems == {}

    assert _pairs(estate, _READ) == _OF_FILES
    both = {("orders", "copied"), ("returns", "copied")}
    assert _pairs(estate, _EDGES) == _OF_FILES | both
    counted = {short(name): count for name, count in rows(estate.catalog, _ROWS)}
    assert counted == {"landed": 3, "chosen": 2}
    # Events give the write of a batch the inputs of its stream, but not those of files.
    by_log = _pairs(estate, f"{_EDGES} WHERE e.last_reported_at IS NULL")
    assert by_log == _OF_FILES - {("orders", "by_batch")}


@pytest.mark.postgres_nightly
def test_an_input_that_no_event_named_is_found(estate, ran):
    """Find inputs of streams into files; no log names the topic that a stream writes."""
    estate.land(_drop_inputs(events_of(ran), inputs_of=("project",)))

    estate.scan(ran / "logs")

    assert _pairs(estate, _EDGES) >= _OF_FILES


@pytest.mark.postgres_nightly
def test_a_topic_without_an_event_is_left_out(estate, ran):
    """Skip it: the log names no brokers, so the cluster is unknown."""
    estate.scan(ran / "logs")

    assert _pairs(estate, "SELECT name FROM dataset") == {("landed",), ("by_batch",), ("chosen",)}
    assert _pairs(estate, _READ) == set()


def _add_input(events):
    """Return the events with one more topic for the folder that the batches wrote."""
    copied = copy.deepcopy(events)
    for event in copied:
        if event["job"]["name"].endswith("by_batch"):
            event["inputs"] = [{"namespace": "kafka://elsewhere:9092", "name": "invented"}]
    return copied


def test_a_topic_missing_from_the_progress_proves_no_error(estate, ran):
    """Keep the event's input: a topic of another cluster would look the same."""
    estate.land(_add_input(events_of(ran)))
    estate.scan(ran / "logs")

    compare(estate.spark, estate.catalog, estate.now)

    assert "edge_wrong" not in {outcome for *_, outcome in _pairs(estate, _OUTCOMES)}


@pytest.mark.postgres_nightly
def test_a_complete_list_of_a_stream_would_prove_the_event_wrong(estate, ran, monkeypatch):
    """Run the mutant of the test before."""
    monkeypatch.setattr(plans, "_UNNAMED", "never")
    monkeypatch.setattr(plans, "_OPAQUE", "never")
    plans.touched_tables.cache_clear()
    estate.land(_add_input(events_of(ran)))
    estate.scan(ran / "logs")
    plans.touched_tables.cache_clear()

    compare(estate.spark, estate.catalog, estate.now)

    assert ("invented", "by_batch", "edge_wrong") in _pairs(estate, _OUTCOMES)
