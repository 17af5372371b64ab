"""Check a collector that is killed under load: all acknowledged events are stored."""

import os
import random
import signal

import pytest

from tests.collector.running import Collector
from tests.faults.collectors import mutant
from tests.faults.ledger import Senders, acked, compare
from tests.suite.waiting import is_running, until

pytestmark = pytest.mark.faults

KILLS = int(os.environ.get("LINEWARD_KILLS", "20"))
SEED = int(os.environ.get("LINEWARD_SEED", "20261121"))


@pytest.fixture
def ending():
    """Return a function that takes a process, which is killed in the end, the first one first."""
    started = []
    yield started.append
    for process in started:
        process.kill()


def _wait_for_acks(senders, more):
    enough = senders.acks() + more
    until(lambda: senders.acks() >= enough)


def _kill_workers(collector, senders, kills):
    """Kill so many workers, each once it has acknowledged events; return their process ids."""
    moments = random.Random(SEED)  # noqa: S311 - a moment, no secret
    killed = []
    for _ in range(kills):
        _wait_for_acks(senders, moments.randint(1, 300))
        worker = until(collector.worker)
        os.kill(worker, signal.SIGKILL)
        until(lambda worker=worker: not is_running(worker))
        killed.append(worker)
    return killed


def test_workers_killed_under_load_lose_no_event_and_reject_no_connection(tmp_path, ending):
    """Kill workers: the socket outlives each of them, and each answer came after an fsync."""
    collector = Collector(tmp_path / "data").ready()
    ending(collector)
    senders = Senders(collector.port, tmp_path / "senders")
    ending(senders)

    killed = _kill_workers(collector, senders, KILLS)
    _wait_for_acks(senders, 1)
    seen = senders.stop()
    collector.stop()

    compared = compare(acked(tmp_path / "senders"), collector)
    print(f"seed {SEED}, kills {len(set(killed))}, seen {seen}")  # noqa: T201 - the result of the run
    assert len(set(killed)) == KILLS
    assert sum(seen.values()) - seen["201"] >= KILLS  # the kills hit posts in flight
    assert seen["201"] == compared.acked
    assert "ConnectionRefusedError" not in seen
    assert compared.lost == 0


def test_a_parent_killed_under_load_loses_no_event(tmp_path, ending):
    """Kill the parent: nobody has the port then, and what was acknowledged is stored."""
    collector = Collector(tmp_path / "data").ready()
    ending(collector)
    senders = Senders(collector.port, tmp_path / "senders")
    ending(senders)
    for _ in range(2):
        _wait_for_acks(senders, 50)
        worker = collector.worker()
        collector.process.kill()
        collector.process.wait(30)
        until(lambda worker=worker: not is_running(worker))
        collector = Collector(tmp_path / "data", port=collector.port).ready()
        ending(collector)
    _wait_for_acks(senders, 1)
    seen = senders.stop()
    collector.stop()

    assert seen["ConnectionRefusedError"] > 0
    assert compare(acked(tmp_path / "senders"), collector).lost == 0


def test_the_ledger_notices_a_worker_that_answers_before_the_commit(tmp_path, ending):
    """Run the mutant: a worker that answers before the commit loses events in the same run."""
    collector = mutant(tmp_path / "data", "hasty_worker").ready()
    ending(collector)
    senders = Senders(collector.port, tmp_path / "senders")
    ending(senders)

    _kill_workers(collector, senders, 2)
    senders.stop()
    collector.stop()

    assert compare(acked(tmp_path / "senders"), collector).lost > 0
