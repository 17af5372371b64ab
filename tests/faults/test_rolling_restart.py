"""Rolling restart of collectors under load: no post fails, and no event is lost."""

import hashlib
import os
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml

from lineage.input_log.settings import read_log
from tests.collector.running import ROOT, Collector
from tests.faults.comparing import read_topic
from tests.faults.pods import Pod, count_shipped, start_pods
from tests.faults.rollout import Clients, Endpoints
from tests.suite.examples import is_long
from tests.suite.waiting import until

pytestmark = pytest.mark.faults

_ROUNDS = int(os.environ.get("LINEWARD_PART_KILLS", "1"))
_COLLECTORS = 3 if is_long() else 2
_IN_SHORT_SECONDS = 5  # of a drain
_BETWEEN = 300  # posts


def drain_seconds() -> int:
    """Return how long a collector of the chart answers after SIGTERM."""
    values = yaml.safe_load(Path(ROOT / "helm" / "lineward" / "values.yaml").read_text())
    seconds: int = values["collector"]["drainSeconds"]
    return seconds if is_long() else min(seconds, _IN_SHORT_SECONDS)


def _read(log_url):
    return read_topic(read_log({"LINEWARD_LOG": log_url}))


@pytest.fixture
def ending():
    """Return a function that takes what a test started, and how it ends: the newest first."""
    with ExitStack() as stack:

        def note(one, end):
            stack.callback(end, one)
            return one

        yield note


def _wait_for_posts(clients):
    enough = sum(clients.posts().by_kind.values()) + _BETWEEN
    until(lambda: sum(clients.posts().by_kind.values()) >= enough)


def _restart_in_turn(pods, endpoints, clients):
    """Restart each as a StatefulSet does: the next one when this one is ready again."""
    for pod in pods:
        _wait_for_posts(clients)
        pod.restart()
        until(lambda pod=pod: endpoints.lists(pod.port))


def test_a_rolling_restart_of_collectors_fails_no_post(log_url, tmp_path, ending):
    """Post to the endpoints of a Service: each event is answered with 201, and once in Kafka."""
    pods = start_pods(tmp_path, log_url, _COLLECTORS, drain_seconds=drain_seconds())
    for pod in pods:
        ending(pod, Pod.stop)
    endpoints = ending(
        Endpoints(tmp_path / "endpoints", [pod.port for pod in pods]), Endpoints.stop
    )
    clients = ending(Clients(endpoints, tmp_path / "clients"), Clients.kill)

    for _ in range(_ROUNDS):
        _restart_in_turn(pods, endpoints, clients)
    _wait_for_posts(clients)
    posts = clients.stop()
    until(lambda: count_shipped(pods) == len(posts.acked))

    restarts = _ROUNDS * _COLLECTORS
    sys.stdout.write(f"{restarts} restarts; posts {dict(posts.by_kind)}, failed {posts.failed}\n")
    assert posts.failed == {}
    found = Counter(hashlib.sha256(body).hexdigest() for body in _read(log_url))
    assert found == Counter(posts.acked)
    assert set(found.values()) == {1}


def test_a_collector_that_does_not_wait_fails_posts(tmp_path, ending):
    """Run the mutant: without the wait of the drain, connections go to a closed port."""
    one, other = (
        ending(Collector(tmp_path / name, drain_seconds=0).ready(), Collector.kill)
        for name in ("one", "other")
    )
    endpoints = ending(Endpoints(tmp_path / "endpoints", [one.port, other.port]), Endpoints.stop)
    clients = ending(Clients(endpoints, tmp_path / "clients"), Clients.kill)
    _wait_for_posts(clients)
    one.stop()
    until(lambda: not endpoints.lists(one.port))
    _wait_for_posts(clients)
    posts = clients.stop()

    assert "closes the connection: ConnectionRefusedError" in posts.failed
