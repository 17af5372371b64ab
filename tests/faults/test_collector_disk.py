"""Check a disk that is full or fails to sync: 503 without an ack, and recovery by itself."""

import hashlib
import os
import shutil
from collections import Counter

import httpx
import pytest

from tests.collector.bodies import body, new_body, run_event
from tests.collector.running import Collector
from tests.faults.collectors import mutant
from tests.faults.ledger import compare
from tests.suite.disks import fill, small_disk
from tests.suite.http_client import CLIENT
from tests.suite.waiting import until

pytestmark = pytest.mark.faults

_DISK_BYTES = 8 << 20


@pytest.fixture
def disk(tmp_path):
    """Mount a disk of 8 MiB with 5 MiB of ballast on it."""
    with small_disk(tmp_path / "disk", _DISK_BYTES) as path:
        (path / "ballast").write_bytes(b"0" * (5 << 20))
        yield path


@pytest.fixture
def ending():
    """Return a function that takes a collector, which is killed in the end."""
    started = []

    def end(collector):
        started.append(collector)
        return collector

    yield end
    for collector in started:
        collector.kill()


def _large_body():
    return body(run_event(somethingNew=os.urandom(30_000).hex()))


def _hash(raw):
    return hashlib.sha256(raw).hexdigest()


def _fill(collector, acked):
    """Post until an event is rejected; return that answer."""
    for _ in range(500):
        raw = _large_body()
        answer = collector.post(raw)
        if answer.status_code != 201:
            return answer
        acked.add(_hash(raw))
    raise AssertionError("the disk never was full")


def _is_full(path):
    """Return whether another event would not fit."""
    return shutil.disk_usage(path).free < 200_000


def test_a_full_disk_is_a_503_without_an_ack_and_space_is_enough_to_go_on(disk, ending):
    """Fill the disk, then make room: the same worker answers 503, and stores events again."""
    collector = ending(Collector(disk / "data")).ready()
    worker = collector.worker()
    acked = set()

    rejected = _fill(collector, acked)

    assert _is_full(disk)
    assert (rejected.status_code, rejected.headers["retry-after"]) == (503, "1")
    assert rejected.json()["error"] == "UnavailableError"
    assert collector.post(_large_body()).status_code == 503
    (disk / "ballast").unlink()
    raw = _large_body()
    until(lambda: collector.post(raw).status_code == 201)
    acked.add(_hash(raw))
    assert collector.worker() == worker
    assert len(acked) > 10
    assert compare(acked, collector)[2:] == (0, 0)


def test_a_collector_that_starts_on_a_full_disk_answers_503_until_there_is_space(
    disk, ending, tmp_path
):
    """Post at once: the port is open all the time, since senders do not repeat a connection."""
    (disk / "data").mkdir()
    ballast = fill(disk)
    assert shutil.disk_usage(disk).free == 0
    collector = ending(Collector(disk / "data", log=tmp_path / "log"))

    rejected = collector.post(new_body())
    assert (rejected.status_code, rejected.headers["retry-after"]) == (503, "1")

    ballast.unlink()
    raw = new_body()
    until(lambda: collector.post(raw).status_code == 201)
    assert collector.rows("SELECT body FROM event") == [(raw,)]


def _last_rejected(collector):
    """Return the number of the last rejected body that is stored."""
    return collector.rows("SELECT coalesce(max(id), 0) FROM rejected")[0][0]


@pytest.mark.parametrize(
    ("path", "make"),
    [
        ("/api/v1/lineage", lambda: os.urandom(60_000).hex().encode()),
        ("/api/v1/lineage", lambda: b"x" * 2_000_000),
        (
            "/api/v1/lineage/batch",
            lambda: b"[1," + b'"' + os.urandom(60_000).hex().encode() + b'"]',
        ),
        ("/api/v1/lineage/batch", lambda: b"[" + b"1," * 20_000 + b"1]"),
    ],
    ids=["no event", "too large", "batch of others", "too many"],
)
def test_a_rejected_body_that_cannot_be_stored_is_a_503(disk, ending, path, make):
    """Post bodies that are no events while the disk is full: they are stored when there is room."""
    collector = ending(Collector(disk / "data")).ready()
    _fill(collector, set())
    ballast = fill(disk)

    # The log beside the file may have room for a few.
    until(lambda: collector.post(make(), path).status_code == 503, pause=0)
    last = _last_rejected(collector)
    assert collector.post(make(), path).status_code == 503

    assert _last_rejected(collector) == last
    ballast.unlink()
    until(lambda: collector.post(make(), path).status_code in {200, 400, 413})
    assert _last_rejected(collector) > last


def test_a_damaged_spool_waits_for_room_to_be_repaired(disk, ending, tmp_path):
    """Start on a damaged spool and a full disk: alive, and not ready, with the reason."""
    first = ending(Collector(disk / "data", log=tmp_path / "log")).ready()
    assert first.post(new_body()).status_code == 201
    first.stop()
    (disk / "data" / "spool.db").write_bytes(b"no database" * 10_000)
    ballast = fill(disk)
    again = ending(Collector(disk / "data", port=first.port, log=tmp_path / "log"))
    until(lambda: "spool_cannot_open" in again.log())

    ready = CLIENT.get(f"{again.url}/readyz", timeout=5)

    assert (ready.status_code, ready.headers["retry-after"]) == (503, "1")
    assert "the spool cannot be opened" in ready.json()["detail"]
    assert CLIENT.get(f"{again.url}/livez", timeout=5).status_code == 200
    ballast.unlink()
    until(lambda: again.post(new_body()).status_code == 201)
    assert len([*(disk / "data").glob("spool.db.damaged-*Z")]) == 1


def test_the_ledger_notices_a_worker_that_answers_on_a_full_disk(disk, ending):
    """Run the mutant: a worker that answers before the commit acknowledges what no disk has."""
    collector = ending(mutant(disk / "data", "hasty_worker")).ready()
    raws = [_large_body() for _ in range(200)]

    acked = {_hash(raw) for raw in raws if collector.post(raw).status_code == 201}

    assert _is_full(disk)
    assert compare(acked, collector).lost > 0


def test_a_failed_sync_is_a_503_without_an_ack_and_a_new_worker(tmp_path, ending):
    """Make syncs fail: the worker cannot know what is on the disk, so a new one reads it."""
    collector = ending(_traced(tmp_path, "error=EIO:when=25+")).ready()
    acked, rejected, workers = set(), set(), set()

    while len(workers) < 3:
        raw, worker = new_body(), collector.worker()
        try:
            answer = collector.post(raw)
        except httpx.RemoteProtocolError:
            continue  # taken by the worker that was just ending: no answer is no ack
        if answer.status_code == 201:
            acked.add(_hash(raw))
            workers.add(worker)
        else:
            rejected.add((answer.status_code, answer.headers["retry-after"]))
        assert len(acked) < 500, "no sync ever failed"

    assert "(INJECTED)" in (tmp_path / "trace").read_text()
    assert rejected == {(503, "1")}
    assert compare(acked, collector).lost == 0


def _syncs_of(collector, trace, posts):
    """Return how often the writer made the disk sync while so many events came one by one."""
    before = _syncs_by_thread(trace)
    for _ in range(posts):
        assert collector.post(new_body()).status_code == 201
    # The other thread that syncs copies the log, four times a second at most: it is not the writer.
    return max((_syncs_by_thread(trace) - before).values(), default=0)


def _syncs_by_thread(trace):
    calls = (line.split() for line in trace.read_text().splitlines() if "sync(" in line)
    return Counter(thread for thread, *_ in calls)


def _traced(tmp_path, inject="", worker=None):
    if shutil.which("strace") is None:
        pytest.skip("needs strace, to make a sync fail")
    before = ["strace", "-D", "-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", f"{tmp_path}/trace"]
    before += ["-e", f"inject=fsync,fdatasync:{inject}"] if inject else []
    if worker is None:
        return Collector(tmp_path / "data", before=tuple(before))
    return mutant(tmp_path / "data", worker, before=tuple(before))


def test_each_answer_comes_after_a_sync(tmp_path, ending):
    """Post one event at a time, so that none shares another's commit."""
    collector = ending(_traced(tmp_path)).ready()

    assert _syncs_of(collector, tmp_path / "trace", 30) >= 30


def test_the_count_notices_a_worker_that_does_not_sync(tmp_path, ending):
    """Run the mutant: with `synchronous=NORMAL` every other test passes, until the power fails."""
    collector = ending(_traced(tmp_path, worker="unsynced_worker")).ready()

    assert _syncs_of(collector, tmp_path / "trace", 30) < 30
