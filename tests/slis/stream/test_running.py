"""A stream that ends by an error begins again, unless it would end by the same one."""

import os
import signal
import subprocess
from pathlib import Path
from threading import Event

import pytest
from pyspark.errors import StreamingQueryException
from spools import rows, run_event, spool

from lineage.clock import system_clock
from lineage.health import Health
from slis.settings import Place
from slis.stream import query, running
from slis.stream.running import PipelineStoppedError, Running
from tests.service.waiting import until
from tests.suite.disks import fill


class Query:
    """One that has ended, by an error or by somebody; or one that runs."""

    def __init__(self, said=None, *, is_active=False, is_at_work=False, progress=None) -> None:
        self.isActive = is_active
        self.status = {"isTriggerActive": is_at_work}
        self.lastProgress = progress
        self._error = StreamingQueryException(said) if said else None

    def exception(self):
        """As PySpark's."""
        return self._error


@pytest.fixture
def stopped(monkeypatch):
    """Nobody ends the role, and no pause is waited for."""
    monkeypatch.setattr(running, "_PAUSE_SECONDS", 0.0)
    return Event()


def _running(*queries: Query):
    stream, left = Running(), list(queries)
    stream.begin(lambda: left.pop(0))
    return stream


def test_an_error_that_may_pass_begins_the_stream_again(stopped):
    """The second query takes the place of the first."""
    stream = _running(Query("a worker was not answered in time"), Query(is_active=True))

    assert stream.look(stopped)
    assert stream.look(stopped)


@pytest.fixture
def failures(monkeypatch):
    """What this role reports to fail, by part."""
    health = Health()
    monkeypatch.setattr(running, "HEALTH", health)
    monkeypatch.setattr(running, "_LOOK_SECONDS", 0.0)
    return lambda: {each.part: each.error for each in health.failures()}


def test_a_stream_that_begins_again_is_failing_until_a_batch_lands(stopped, failures):
    """Also where the next query runs: it has shown nothing yet."""
    said = "Python worker failed to connect back"
    stream = _running(Query(f"{said}\nat x"), Query(is_active=True, is_at_work=True))

    stream.look(stopped)
    stream.look(stopped)
    assert failures() == {"stream": said}
    stream.landed()

    assert failures() == {}


def test_a_stream_that_has_nothing_to_do_is_no_failure_any_more(stopped, failures):
    """No event comes, and so no batch: an empty trigger that ended is enough."""
    idle = Query(is_active=True)
    stream = _running(Query("the disk is full\nat x"), idle)

    stream.look(stopped)
    stream.look(stopped)
    assert failures() == {"stream": "the disk is full"}
    idle.lastProgress = {"batchId": 3}
    stream.look(stopped)

    assert failures() == {}


def test_a_batch_that_does_not_end_is_shown_and_goes_on(stopped, failures, monkeypatch):
    """A worker of it stands still, or the machine is starved: nobody can tell which."""
    monkeypatch.setattr(running, "_LONG_BATCH_SECONDS", 0.0)
    stream = _running(Query(is_active=True, is_at_work=True))

    assert stream.look(stopped)

    assert failures() == {"stream": "a batch has run for 0 min without an end"}


def test_one_that_somebody_ended_stays_ended(stopped):
    """As at a signal to the whole group."""
    assert not _running(Query()).look(stopped)


def test_what_no_repetition_can_help_ends_the_role_at_once(stopped):
    """In the words of the batch."""
    error = "Query terminated\nslis.stream.merge.RangeMismatchError: batch 1 holds others\nat x"

    with pytest.raises(PipelineStoppedError, match=r"^batch 1 holds others$"):
        _running(Query(error)).look(stopped)


def test_an_error_that_does_not_pass_ends_the_role_and_a_batch_in_between_counts_anew(
    stopped, monkeypatch
):
    """Two in a row are one too many here; with a batch between them they are not in a row."""
    monkeypatch.setattr(running, "_MOST_FAILURES", 1)
    stream = _running(*(Query("a worker was lost\nat x") for _ in range(3)))

    assert stream.look(stopped)
    stream.landed()
    assert stream.look(stopped)
    with pytest.raises(PipelineStoppedError, match=r"^a worker was lost$"):
        stream.look(stopped)


def _sources_of(spark):
    """The processes of Spark's that read spools for streams, those of other tests too."""
    jvm = spark.sparkContext._gateway.proc.pid  # noqa: SLF001 - PySpark does not tell it
    argv = ["pgrep", "-P", str(jvm), "-f", "python_streaming_source_runner"]
    return set(subprocess.run(argv, capture_output=True, text=True, check=False).stdout.split())


def test_a_killed_source_costs_nothing_but_time(spark, embedded, tmp_path, at, stopped):
    """Events from before and after are in the catalog once each."""
    place = Place(data_dir=tmp_path)
    others = _sources_of(spark)
    started = []

    def start():
        given = {"max_rows": 10, "clock": system_clock, "poll_seconds": 0.1, "name": "killed"}
        started.append(query.start(spark, embedded, place, **given))
        return started[-1]

    def landed():
        [(events,)] = rows(embedded, "SELECT count(*) FROM event")
        return events

    spool(tmp_path / "spool.db", [run_event("COMPLETE", at(1), run="r1")], received_at=at(1))
    stream = Running()
    stream.begin(start)
    try:
        until(lambda: landed() == 1)
        [source] = _sources_of(spark) - others
        patience = Path(f"/proc/{source}/environ").read_bytes()
        os.kill(int(source), signal.SIGKILL)
        spool(tmp_path / "spool.db", [run_event("COMPLETE", at(2), run="r2")], received_at=at(2))
        until(lambda: stream.look(stopped) and landed() == 2)
    finally:
        stream.finish()

    assert b"SPARK_AUTH_SOCKET_TIMEOUT=120" in patience.split(b"\0")
    assert len(started) == 2
    assert rows(embedded, "SELECT count(*) FROM batch") == [(2,)]


def test_a_full_lake_ends_the_role_and_with_space_the_batch_lands(  # noqa: PLR0913, PLR0917 - of fixtures
    spark, embedded, disk, tmp_path, at, stopped, monkeypatch
):
    """A real disk: the error names it, no event is lost, and none is landed twice."""
    monkeypatch.setattr(running, "_MOST_FAILURES", 1)
    place = Place(data_dir=tmp_path)
    place.lake.symlink_to(disk)

    def start():
        given = {"max_rows": 10, "clock": system_clock, "poll_seconds": 0.1, "name": "full"}
        return query.start(spark, embedded, place, **given)

    def landed():
        return rows(embedded, "SELECT count(*) FROM event") == [(2,)]

    events = [run_event("COMPLETE", at(hour), run=f"r{hour}") for hour in (1, 2)]
    spool(tmp_path / "spool.db", events, received_at=at(2))
    ballast = fill(disk)
    stream = Running()
    stream.begin(start)
    with pytest.raises(PipelineStoppedError) as ended:
        until(lambda: not stream.look(stopped))
    assert "No space left on device" in str(ended.value.__cause__)
    assert rows(embedded, "SELECT count(*) FROM event") == [(0,)]

    ballast.unlink()
    again = Running()
    again.begin(start)
    try:
        until(lambda: again.look(stopped) and landed())
    finally:
        again.finish()
    assert rows(embedded, "SELECT count(*) FROM batch") == [(1,)]
