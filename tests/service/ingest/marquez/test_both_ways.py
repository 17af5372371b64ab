"""Forward and pull at once, real collector and real spool, through the faults of both sides."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.collector.running import Collector
from tests.fakes.marquez import Event, FakeMarquez, run_event
from tests.service.ingest.marquez.roles import Reckoning, Role, end, reckon
from tests.suite.waiting import until

_THEIRS = 700_000
Start = Callable[..., Role]


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    running = Collector(tmp_path / "data").ready()
    yield running
    running.kill()


@pytest.fixture
def start(collector: Collector, marquez: FakeMarquez) -> Iterator[Start]:
    """Start the role beside both, whole or as a mutant."""
    started: list[Role] = []

    def _start(mutant: str | None = None) -> Role:
        started.append(Role(collector, marquez, mutant=mutant))
        return started[-1]

    yield _start
    for role in started:
        end(role)


def _run_events(first: int, count: int) -> list[Event]:
    """Send START and COMPLETE of runs from now on, many with one timestamp."""
    now = datetime.now(UTC)
    return [
        run_event(run, at=now + timedelta(milliseconds=step + run % 3), kind=kind)
        for step, kind in ((0, "START"), (10, "COMPLETE"))
        for run in range(first, first + count)
    ]


def _post(collector: Collector, events: list[Event]) -> list[Event]:
    answer = collector.post(json.dumps(events).encode(), "/api/v1/lineage/batch")
    assert answer.status_code == 204
    return events


def _store(marquez: FakeMarquez, events: list[Event]) -> list[Event]:
    marquez.store(events)
    return events


def _forwarded_whole(collector: Collector, role: Role) -> bool:
    last = collector.rows("SELECT seq FROM sqlite_sequence WHERE name = 'event'")[0][0]
    return role.cursor() == last


def _settle(collector: Collector, role: Role, theirs: list[Event]) -> None:
    """Wait until all of theirs is in the spool, and all of the spool was handled."""
    count = "SELECT count(DISTINCT body_hash) FROM event WHERE origin = 'marquez'"
    until(lambda: collector.rows(count)[0][0] >= len(theirs))
    until(lambda: _forwarded_whole(collector, role))


def test_nothing_is_missing_and_nothing_twice_while_marquez_fails(
    collector: Collector, marquez: FakeMarquez, start: Start
):
    """Restart Marquez twice, answer 500, lose answers, store events partly and shift pages."""
    role = start()
    ours = _post(collector, _run_events(0, 100))
    theirs = _store(marquez, _run_events(_THEIRS, 350))

    marquez.stop()
    ours += _post(collector, _run_events(1_000, 100))
    marquez.start()
    late = _run_events(_THEIRS + 1_000, 20)
    marquez.latecomers = list(late)
    marquez.torn, marquez.lost_answers, marquez.rejections = 15, 15, 30
    until(lambda: not (marquez.torn or marquez.lost_answers or marquez.rejections))
    marquez.status = 500
    ours += _post(collector, _run_events(2_000, 100))
    until(lambda: marquez.seen["POST", "/api/v1/lineage", 500] > 100)
    marquez.stop()
    marquez.status = None
    os.kill(collector.worker(), signal.SIGKILL)
    marquez.start()
    ours += _post(collector, _run_events(3_000, 100))
    theirs += _store(marquez, _run_events(_THEIRS + 2_000, 350)) + late
    until(lambda: not marquez.latecomers)
    _settle(collector, role, theirs)

    found = reckon(collector, marquez, ours, theirs)
    assert found == Reckoning(0, 0, 0, 0, found.again_there, 0)
    assert max(marquez.pages) == 500  # some of theirs came over several pages
    # A second raw row only of what was stored without an answer to us: torn, lost, cut off.
    assert found.again_there <= 15 + 15 + 2 * 8
    assert role.counted("forwarded") == len(ours)
    assert role.rows("SELECT * FROM marquez_set_aside") == []
    assert role.stop() == 0


def test_a_killed_role_loses_nothing_and_pulls_nothing_twice(
    collector: Collector, marquez: FakeMarquez, start: Start
):
    """Kill -9 three times under load: only what was sent and not recorded is sent again."""
    role = start()
    ours: list[Event] = []
    theirs: list[Event] = []
    for turn in range(3):
        sent = len(marquez.acked)
        ours += _post(collector, _run_events(turn * 1_000, 150))
        theirs += _store(marquez, _run_events(_THEIRS + turn * 1_000, 100))
        until(lambda sent=sent: len(marquez.acked) > sent + 50)
        role.kill()
        role.start()
    _settle(collector, role, theirs)

    found = reckon(collector, marquez, ours, theirs)
    assert found == Reckoning(0, 0, 0, 0, found.again_there, 0)
    assert found.again_there < len(ours)


def test_without_its_cursor_the_role_sends_everything_again(
    collector: Collector, marquez: FakeMarquez, start: Start
):
    """Run the mutant: send each event again at each start."""
    role = start("forgets_the_cursor")
    ours = _post(collector, _run_events(0, 100))
    for turn in range(1, 3):
        until(lambda turn=turn: len(marquez.acked) == turn * len(ours))
        role.kill()
        role.start()
    until(lambda: len(marquez.acked) == 3 * len(ours))

    assert reckon(collector, marquez, ours, []).again_there == 2 * len(ours)


def test_without_the_origin_the_role_sends_marquez_s_events_back(
    collector: Collector, marquez: FakeMarquez, start: Start
):
    """Run the mutant: send each event back to Marquez, which came from there."""
    role = start("sends_back")
    theirs = _store(marquez, _run_events(_THEIRS, 50))
    _settle(collector, role, theirs)

    assert reckon(collector, marquez, [], theirs).sent_back == len(theirs)


def test_rejections_by_the_collector_are_counted_and_not_repeated(
    collector: Collector, marquez: FakeMarquez, start: Start
):
    """Store a rejected event once: Marquez accepts a run id that is no UUID."""
    role = start()
    marquez.store([run_event(1, at=datetime.now(UTC), run={"runId": "nightly-42"})])
    until(lambda: role.counted("pull_refused") == 1)
    rounds = marquez.seen["GET", "/api/v1/events/lineage", 200]
    until(lambda: marquez.seen["GET", "/api/v1/events/lineage", 200] > rounds + 5)

    assert role.counted("pull_refused") == 1
    assert collector.rows("SELECT path FROM rejected") == [("$.run.runId",)]
