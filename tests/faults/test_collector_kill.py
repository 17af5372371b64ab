"""Kills of the collector: no acknowledged event is lost, and no connection fails."""

import os
import random
import signal

import pytest

from tests.collector.running import Collector
from tests.faults.collectors import mutant
from tests.faults.ledger import Senders, acked, reckon
from tests.service.waiting import is_running, until

pytestmark = pytest.mark.faults

KILLS = int(os.environ.get("LINEWARD_KILLS", "20"))
SEED = int(os.environ.get("LINEWARD_SEED", "20261121"))


@pytest.fixture
def ending():
    """Return a function that registers a process; kill all in that order after the test."""
    started = []
    yield started.append
    for process in started:
        process.kill()


def _wait_for_acks(senders, more):
    enough = senders.acks() + more
    until(lambda: senders.acks() >= enough)


def _kill_workers(collector, senders, kills):
    """Kill so many workers, each after an ack; return their process ids."""
    moments = random.Random(SEED)  # noqa: S311 - a moment, no secret
    killed = []
    for _ in range(kills):
        _wait_for_acks(senders, moments.randint(1, 300))
        worker = until(collector.worker)
        os.kill(worker, signal.SIGKILL)
        until(lambda worker=worker: not is_running(worker))
        killed.append(worker)
    return killed


def test_workers_killed_under_load_lose_nothing_and_fail_no_connection(tmp_path, ending):
    """Keep the socket through each worker; each answer follows an fsync."""
    collector = Collector(tmp_path / "data").ready()
    ending(collector)
    senders = Senders(collector.port, tmp_path / "senders")
    ending(senders)

    killed = _kill_workers(collector, senders, KILLS)
    _wait_for_acks(senders, 1)
    seen = senders.stop()
    collector.stop()

    reckoning = reckon(acked(tmp_path / "senders"), collector)
    print(f"seed {SEED}, kills {len(set(killed))}, seen {seen}")  # noqa: T201 - the run's proof
    assert len(set(killed)) == KILLS
    assert sum(seen.values()) - seen["201"] >= KILLS  # the kills hit posts in flight
    assert seen["201"] == reckoning.acked
    assert "ConnectionRefusedError" not in seen
    assert reckoning.lost == 0


def test_a_parent_killed_under_load_loses_nothing(tmp_path, ending):
    """Lose the port, so that connections fail; every answered event is stored."""
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
    assert reckon(acked(tmp_path / "senders"), collector).lost == 0


def test_the_ledger_detects_a_worker_that_answers_before_the_commit(tmp_path, ending):
    """Run the mutant: without the guarantee, the same run must lose events."""
    collector = mutant(tmp_path / "data", "hasty_worker").ready()
    ending(collector)
    senders = Senders(collector.port, tmp_path / "senders")
    ending(senders)

    _kill_workers(collector, senders, 2)
    senders.stop()
    collector.stop()

    assert reckon(acked(tmp_path / "senders"), collector).lost > 0
