"""Posts while Kafka or PostgreSQL accepts requests and answers none."""

import sys
import time

import pytest

from lineage.input_log.settings import read_log
from tests.collector.bodies import new_body
from tests.collector.running import Collector
from tests.faults.collectors import mutant
from tests.faults.comparing import read_topic
from tests.faults.pods import Sender, count_shipped
from tests.suite.http_client import CLIENT
from tests.suite.waiting import until

pytestmark = pytest.mark.faults

_EVENTS = 2_000
_POSTS = 20


@pytest.fixture
def before():
    """Return a command prefix that sets variables of a collector."""
    return lambda **variables: ("env", *(f"{name}={value}" for name, value in variables.items()))


def test_posts_are_answered_while_kafka_hangs(broker, pods, log_url):
    """Stop the broker by SIGSTOP: events are acknowledged, and shipped when it resumes."""
    sender = Sender(pods, seed=6)
    sender.post(_EVENTS)
    until(lambda: count_shipped(pods) == _EVENTS)
    broker.pause()
    try:
        sender.post(_EVENTS)
        pods[0].kill()
        pods[0].start()  # a collector starts without Kafka, too
        sender.post(_EVENTS)
        shipped = count_shipped(pods)
    finally:
        broker.resume()
    until(lambda: count_shipped(pods) == len(sender.acked))

    sys.stdout.write(f"{len(sender.acked)} events; requests slower than 1 s: {sender.slow}\n")
    assert len(sender.acked) == 3 * _EVENTS
    assert shipped == _EVENTS
    assert set(read_topic(read_log({"LINEWARD_LOG": log_url}))) == set(sender.acked)


def _post(collector):
    """Post events; return how many took longer than a second."""
    slow = 0
    for _ in range(_POSTS):
        began = time.monotonic()
        assert collector.post(new_body()).status_code == 201
        slow += time.monotonic() - began > 1
    return slow


def _count_failed_queries(collector):
    """Return how often a query of the collector to the catalog failed."""
    text = CLIENT.get(f"{collector.url}/metrics").text
    return float(text.partition("\nlineage_collector_prune_failures_total ")[2].split()[0])


def test_posts_are_answered_while_postgresql_hangs(postgres, before, tmp_path):
    """Stop PostgreSQL by SIGSTOP: a collector that reads the readers' positions continues."""
    given = before(LINEWARD_CATALOG_URL=postgres.url)
    collector = mutant(tmp_path / "data", "pruning_worker", before=given).ready()
    try:
        postgres.pause()
        asked = _count_failed_queries(collector)
        slow = _post(collector)
        until(lambda: _count_failed_queries(collector) > asked)
        slow += _post(collector)
        asked = _count_failed_queries(collector) - asked
        collector.stop()
        again = {"before": given, "port": collector.port}
        collector = Collector(tmp_path / "data", **again).ready()
        slow += _post(collector)
        stored = len(collector.rows("SELECT seq FROM event"))
    finally:
        postgres.resume()
        collector.kill()

    sys.stdout.write(f"{3 * _POSTS} posts; slower than 1 s: {slow}\n")
    assert stored == 3 * _POSTS
    assert 0 < asked < 2 * _POSTS  # no post reads the catalog
