"""Stream thread: it continues by itself, or reports why it cannot."""

import subprocess
import sys
import time
from threading import Event
from types import SimpleNamespace

import pytest

from lineage.catalog.epochs import StaleEpochError
from lineage.process.health import Health
from slis.settings import SharedPaths
from slis.stream import running
from slis.stream.landing import BatchLanding, SparkGoneError, WaitError
from slis.stream.log.spool_reader import BatchLimits
from slis.stream.merge.merge import RangeMismatchError
from slis.stream.running import PipelineStoppedError, StreamThread
from tests.slis.stream.spools import rows, run_event, spool
from tests.suite.disks import fill
from tests.suite.waiting import until


class Steps:
    """Stand-in for the steps: each returns, or raises, a given result."""

    is_behind = False

    def __init__(self, steps) -> None:
        self.left = list(steps)
        self.is_done = Event()

    def step(self):
        """Take the next one; without one, nothing waits."""
        if not self.left:
            self.is_done.set()
            return False
        step = self.left.pop(0)
        if isinstance(step, Exception):
            raise step
        return step() if callable(step) else step

    def interrupted(self):
        """Count nothing."""


@pytest.fixture
def run(monkeypatch):
    """Start a stream over such steps, without pauses."""
    monkeypatch.setattr(running, "_PAUSE_SECONDS", 0.0)
    started = []

    def start(steps):
        stream = StreamThread(Steps(steps), poll_seconds=0.01)
        stream.begin()
        started.append(stream)
        return stream

    yield start
    for stream in started:
        stream.finish(10)


def _ended_by(stream):
    with pytest.raises(PipelineStoppedError) as stopped:
        until(stream.look)
    return str(stopped.value)


def test_a_range_that_does_not_follow_ends_the_stream_at_once(run):
    """Report the message of the batch: a repetition cannot help."""
    stream = run([RangeMismatchError("batch 1 holds others\nat x"), True])

    assert _ended_by(stream) == "batch 1 holds others"


def test_a_pipeline_that_was_replaced_ends_at_once(run):
    """Leave the catalog to the other pipeline."""
    stream = run([StaleEpochError("another pipeline works on this catalog"), True])

    assert _ended_by(stream) == "another pipeline works on this catalog"


def test_a_jvm_that_ended_ends_the_role(run):
    """End the role: the supervisor starts it again, with a new JVM."""
    assert _ended_by(run([SparkGoneError("Spark's JVM ended with exit code 52")])) == (
        "Spark's JVM ended with exit code 52"
    )


def test_failures_that_pass_are_waited_for_without_end(run):
    """Wait through twenty failures of the disk in a row; the batch behind them lands."""
    stream = run([WaitError("No space left on device")] * 20 + [True])

    assert stream._landing.is_done.wait(60)  # noqa: SLF001 - set by the steps
    stream.look()


def test_failures_of_events_end_nothing(run):
    """Continue: the steps find the events that fail."""
    stream = run([ValueError("odd"), KeyError(), True] * 5)

    assert stream._landing.is_done.wait(60)  # noqa: SLF001
    stream.look()


def test_events_land_while_the_stream_runs_and_when_it_is_started_again(embedded, tmp_path, at):
    """Store each event once, from before and after the restart."""
    place = SharedPaths(data_dir=tmp_path)

    def landed(count):
        return rows(embedded, "SELECT count(*) FROM event") == [(count,)]

    for number in (1, 2):
        limits = BatchLimits(10, 1 << 20)
        stream = StreamThread(
            BatchLanding(embedded, place, limits=limits, clock=lambda: at(12)), 0.05
        )
        spool(place.spool, [run_event("COMPLETE", at(number), run="a")], received_at=at(1))
        stream.begin()
        try:
            until(lambda number=number: landed(2 * number - 1))
            spool(place.spool, [run_event("START", at(number), run="b")], received_at=at(2))
            until(lambda number=number: landed(2 * number))
        finally:
            stream.finish(30)
        stream.look()

    assert rows(embedded, "SELECT count(*) FROM batch") == [(4,)]


def test_events_land_on_a_machine_that_is_busy_with_other_work(embedded, tmp_path, at):
    """Depend on no process of Spark that has to answer in time."""
    place = SharedPaths(data_dir=tmp_path)
    spool(place.spool, [run_event("COMPLETE", at(1), run="a")], received_at=at(1))
    limits = BatchLimits(10, 1 << 20)
    landing = BatchLanding(embedded, place, limits=limits, clock=lambda: at(12))
    stream = StreamThread(landing, 0.05)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        stream.begin()
        until(lambda: rows(embedded, "SELECT count(*) FROM event") == [(1,)])
    finally:
        for one in busy:
            one.kill()
            one.wait()
        stream.finish(30)


@pytest.fixture
def failures(monkeypatch):
    """Return the failures that this role reports, by part."""
    health = Health()
    monkeypatch.setattr(running, "HEALTH", health)
    return lambda: {each.part: each.error for each in health.failures()}


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (WaitError("No space left on device"), "No space left on device"),
        (WaitError("the catalog does not answer"), "the catalog does not answer"),
        (ValueError("an odd event\nat x"), "ValueError: an odd event"),
    ],
)
def test_a_stream_that_fails_is_shown_as_failing_until_a_step_succeeds(
    run, failures, error, message
):
    """Report the last error of the role, of the machine or of an event."""
    gate = Event()
    run([error, gate.wait])
    until(lambda: failures() == {"stream": message})

    gate.set()

    until(lambda: failures() == {})


def test_a_batch_that_does_not_end_is_reported_and_continues(failures, monkeypatch):
    """Report a worker that stands still or a starved machine, without a distinction."""
    monkeypatch.setattr(running, "_LONG_BATCH_SECONDS", 0.0)
    stream = StreamThread(Steps([]), poll_seconds=0.01)
    stream._step_since = time.monotonic()  # noqa: SLF001 - a batch is in flight

    stream.look()

    assert failures() == {"stream": "a batch has run for 0 min without an end"}


def test_a_batch_waits_for_space_in_a_full_lake_and_lands(embedded, disk, tmp_path, at, failures):
    """Fill a real disk: the error names it, and each event lands once."""
    place = SharedPaths(data_dir=tmp_path)
    place.lake.folder.symlink_to(disk)
    events = [run_event("COMPLETE", at(hour), run=f"r{hour}") for hour in (1, 2)]
    spool(place.spool, events, received_at=at(2))
    ballast = fill(disk)
    limits = BatchLimits(10, 1 << 20)
    landing = BatchLanding(embedded, place, limits=limits, clock=lambda: at(12))
    stream = StreamThread(landing, 0.05)
    stream.begin()
    try:
        until(lambda: "No space left on device" in failures().get("stream", ""))
        assert rows(embedded, "SELECT count(*) FROM event") == [(0,)]
        ballast.unlink()
        until(lambda: rows(embedded, "SELECT count(*) FROM event") == [(2,)])
        until(lambda: failures() == {})
    finally:
        stream.finish(30)

    assert rows(embedded, "SELECT count(*) FROM batch") == [(1,)]
    assert rows(embedded, "SELECT count(*) FROM event_set_aside") == [(0,)]


@pytest.mark.parametrize(
    ("seconds", "is_behind", "pause"),
    [(0.0, False, 2.0), (1.5, False, 0.5), (30.0, False, 0.0), (0.0, True, 0.0)],
)
def test_events_gather_where_a_batch_is_short(monkeypatch, seconds, is_behind, pause):
    """Check again after the rest of two seconds, or at once while a backlog waits."""
    monkeypatch.setattr(Steps, "is_behind", is_behind)
    pauses, times = [], iter([100.0, 100.0 + seconds])
    monkeypatch.setattr(Event, "wait", lambda self, wait: pauses.append(wait) or self.set())
    monkeypatch.setattr(running, "time", SimpleNamespace(monotonic=lambda: next(times)))

    StreamThread(Steps([True]), poll_seconds=2.0)._run()  # noqa: SLF001 - in this thread

    assert pauses == [pause]


def test_a_landing_is_behind_while_its_batches_are_full(embedded, tmp_path, at):
    """Land three events two at a time, and by bytes one at a time."""
    place = SharedPaths(data_dir=tmp_path)
    events = [run_event("COMPLETE", at(hour), run=f"r{hour}") for hour in (1, 2, 3)]
    spool(place.spool, events, received_at=at(2))
    landing = BatchLanding(embedded, place, limits=BatchLimits(2, 1 << 20), clock=lambda: at(12))

    assert [(landing.step(), landing.is_behind) for _ in range(2)] == [(True, True), (True, False)]

    spool(place.spool, [run_event("COMPLETE", at(4), run=r) for r in "ab"], received_at=at(2))
    by_bytes = BatchLanding(embedded, place, limits=BatchLimits(10, 1), clock=lambda: at(12))

    assert (by_bytes.step(), by_bytes.is_behind) == (True, True)
