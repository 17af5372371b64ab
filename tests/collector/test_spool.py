"""What the spool keeps, what it lets go, and what it says of itself."""

import sqlite3
import threading
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from collector import spool_file
from collector.events import Event
from collector.settings import Limits
from collector.spool import Rejected, Spool, Write
from collector.spool_file import open_spool
from lineage.clock import to_micros
from tests.service.waiting import until

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
OLD = Limits(keep_seconds=60)


class Hands(msgspec.Struct):
    """A clock that a test moves."""

    now: datetime = NOON

    def __call__(self) -> datetime:
        """Now."""
        return self.now

    def forward(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)


class Outcomes:
    """Notes what the spool tells its observer."""

    def __init__(self) -> None:
        self.groups = []
        self.stored = 0
        self.errors = []

    def committed(self, group, stored, seconds):
        """Of `spool.Observer`."""
        assert seconds >= 0
        self.groups.append(len(group))
        self.stored += stored

    def failed(self, group, error):
        """Of `spool.Observer`."""
        self.errors.append((len(group), error))


@pytest.fixture
def clock():
    return Hands()


@pytest.fixture
def outcomes():
    return Outcomes()


@pytest.fixture
def started(tmp_path, clock, outcomes):
    """Starts spools over one file, and stops each in the end, if a test has not."""
    spools = []

    def start(limits=OLD):
        spool = Spool(tmp_path / "spool.db", limits, clock, outcomes)
        spool.start()
        spools.append(spool)
        return spool

    yield start
    for spool in spools:
        spool.stop()


def _events(spool, *bodies: bytes):
    rows = tuple(spool.event_row(Event("run", body, 0), "http") for body in bodies)
    return Write(rows, (), None)


def _rows(tmp_path, sql):
    connection = sqlite3.connect(tmp_path / "spool.db")
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def _wait_for_groups(outcomes, writes):
    until(lambda: sum(outcomes.groups) + sum(n for n, _ in outcomes.errors) >= writes)


def test_a_repeat_is_one_row_and_the_first_one_stays(tmp_path, started, clock, outcomes):
    """Senders repeat what was not answered in time; the same bytes are the same event."""
    spool = started()
    spool.submit(_events(spool, b"a", b"b", b"a"))
    _wait_for_groups(outcomes, 1)
    clock.forward(1)
    spool.submit(_events(spool, b"a"))
    _wait_for_groups(outcomes, 2)

    rows = _rows(tmp_path, "SELECT seq, received_at, origin, kind, body FROM event")

    at = to_micros(NOON)
    assert rows == [(1, at, "http", "run", b"a"), (2, at, "http", "run", b"b")]
    assert outcomes.stored == 2


def test_without_the_unique_hash_the_repeat_would_be_two_rows(
    tmp_path, started, outcomes, monkeypatch
):
    """Mutant: shows that the test above can fail."""
    monkeypatch.setattr(
        spool_file, "SCHEMA", spool_file.SCHEMA.replace("BLOB NOT NULL UNIQUE", "BLOB NOT NULL")
    )
    spool = started()
    spool.submit(_events(spool, b"a", b"a"))
    _wait_for_groups(outcomes, 1)

    assert _rows(tmp_path, "SELECT count(*) FROM event") == [(2,)]


def test_all_that_waits_is_one_commit(started, outcomes, monkeypatch):
    """Group commit: an fsync is paid by a batch, not by an event."""
    spool = started()
    free = threading.Event()
    busy = threading.Event()
    insert = spool._insert  # noqa: SLF001 - holds the writer where a slow disk would

    def slow(group):
        busy.set()
        free.wait(30)
        return insert(group)

    monkeypatch.setattr(spool, "_insert", slow)
    spool.submit(_events(spool, b"first"))
    assert busy.wait(30)
    for number in range(50):
        spool.submit(_events(spool, str(number).encode()))
    free.set()
    _wait_for_groups(outcomes, 51)

    assert [size for size in outcomes.groups if size] == [1, 50]


def test_each_commit_is_an_fsync(tmp_path):
    """FULL is what makes an answer a promise: in a WAL, NORMAL syncs at no commit."""
    connection = open_spool(tmp_path / "spool.db", 1 << 30)

    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_a_full_spool_refuses_and_takes_again_once_its_readers_have_read(
    tmp_path, started, clock, outcomes
):
    """Bounded in bytes: SQLITE_FULL, nothing half-written, and no new process is needed."""
    spool = started(Limits(keep_seconds=60, max_spool_bytes=2 << 20))
    sent = 0
    while not outcomes.errors:
        spool.submit(_events(spool, *(bytes([sent % 256]) * 60_000 + bytes([n]) for n in range(8))))
        sent += 1
        _wait_for_groups(outcomes, sent)
    kept = _rows(tmp_path, "SELECT count(*) FROM event")[0][0]

    assert outcomes.errors[0][1].sqlite_errorname == "SQLITE_FULL"
    assert kept == outcomes.stored == 8 * (sent - 1)
    assert not spool.broken.is_set()

    clock.forward(61)
    spool.prune_through(kept)
    until(lambda: _rows(tmp_path, "SELECT count(*) FROM event") == [(0,)])
    stored = outcomes.stored
    spool.submit(_events(spool, b"z" * 60_000))
    until(lambda: outcomes.stored == stored + 1)


def test_a_full_spool_keeps_no_event_that_all_have_read(tmp_path, started, outcomes):
    """At 1,000 events a second the keep time of an hour is more than the bound holds."""
    spool = started(Limits(keep_seconds=3_600, max_spool_bytes=2 << 20))
    for number in range(40):
        bodies = [number.to_bytes(2, "big") * 15_000 + bytes([n]) for n in range(4)]
        spool.submit(_events(spool, *bodies))
        _wait_for_groups(outcomes, number + 1)
        spool.prune_through(outcomes.stored)
        # 64 events of 30 kB fill the spool; none is an hour old.
        until(lambda: _rows(tmp_path, "SELECT count(*) FROM event")[0][0] < 56)

    assert outcomes.errors == []
    assert outcomes.stored == 160


def test_looking_for_what_may_go_costs_the_same_however_much_stays(tmp_path, clock, outcomes):
    """It once read every row that was too young to go, each second: up to 10 GiB."""
    spool = Spool(tmp_path / "spool.db", OLD, clock, outcomes)
    spool._insert(  # noqa: SLF001 - as the writer does, without its thread
        [_events(spool, *(str(number).encode() for number in range(5_000)))]
    )
    spool.prune_through(5_000)
    steps = []
    spool._connection.set_progress_handler(lambda: steps.append(1), 1)  # noqa: SLF001

    spool._prune()  # noqa: SLF001

    spool._connection.close()  # noqa: SLF001
    assert 0 < len(steps) < 200


def test_only_what_every_reader_has_passed_and_is_old_goes(tmp_path, started, clock, outcomes):
    """Either alone is not enough: a reader may be behind, or want to read again."""
    spool = started()
    spool.submit(_events(spool, b"1", b"2", b"3"))
    _wait_for_groups(outcomes, 1)
    clock.forward(61)
    spool.submit(_events(spool, b"4", b"5"))
    _wait_for_groups(outcomes, 2)
    spool.prune_through(2)
    until(lambda: _rows(tmp_path, "SELECT seq FROM event ORDER BY seq") == [(3,), (4,), (5,)])

    spool.prune_through(4)
    until(lambda: _rows(tmp_path, "SELECT seq FROM event ORDER BY seq") == [(4,), (5,)])


def test_a_number_is_never_given_twice(tmp_path, started, clock, outcomes):
    """A reader's cursor stays true when all rows behind it are gone."""
    spool = started()
    spool.submit(_events(spool, b"1", b"2"))
    _wait_for_groups(outcomes, 1)
    clock.forward(61)
    spool.prune_through(2)
    until(lambda: _rows(tmp_path, "SELECT count(*) FROM event") == [(0,)])
    spool.submit(_events(spool, b"3"))

    until(lambda: _rows(tmp_path, "SELECT seq FROM event ORDER BY seq") == [(3,)])


def test_refused_bodies_are_kept_cut_and_few(tmp_path, started, clock):
    """Someone can look at what was refused; a flood of nonsense does not fill the disk."""
    spool = started(Limits(max_rejected_rows=3, max_rejected_bytes=4))
    for number in range(5):
        refused = Rejected("not_json", "$.a", "why", f"body {number}".encode(), 6)
        spool.submit(Write((), (spool.rejected_row(refused),), None))

    rows = "SELECT received_at, reason, path, detail, body, body_bytes FROM rejected"
    kept = (to_micros(clock()), "not_json", "$.a", "why", b"body", 6)
    until(lambda: _rows(tmp_path, "SELECT id FROM rejected") == [(3,), (4,), (5,)])
    assert _rows(tmp_path, rows) == [kept] * 3


def test_the_heart_beats_without_any_event(tmp_path, started, clock):
    """A reader can tell a quiet estate from a dead collector."""
    started()
    clock.forward(5)
    now = to_micros(clock())

    until(lambda: _rows(tmp_path, "SELECT beat_at FROM heartbeat") == [(now,)])


@pytest.mark.parametrize(("away", "is_gap"), [(2.9, False), (3.1, True)])
def test_time_without_a_collector_is_written_down_as_a_gap(tmp_path, started, clock, away, is_gap):
    """What was sent meanwhile is missing, and nobody else could know."""
    started().stop()
    clock.forward(away)
    started().stop()

    gap = (to_micros(NOON), to_micros(clock()))
    assert _rows(tmp_path, "SELECT started_at, ended_at FROM gap") == [gap] * is_gap


def test_a_failed_sync_ends_the_writer_and_no_one_waits_for_it(started, outcomes, monkeypatch):
    """After EIO only a new process knows what is on disk; who comes later is not kept waiting."""
    spool = started()
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = "SQLITE_IOERR_FSYNC"

    def fail(_group):
        raise error

    monkeypatch.setattr(spool, "_insert", fail)
    spool.submit(_events(spool, b"a"))
    until(spool.broken.is_set)
    spool.submit(_events(spool, b"b"))
    _wait_for_groups(outcomes, 2)

    assert [size for size in outcomes.groups if size] == []
    assert outcomes.errors[0][1] is error


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_writer_that_dies_of_anything_is_broken_too(started, outcomes, monkeypatch):
    """A dead thread that nobody notices would let every sender wait for ever."""
    spool = started()

    def die(_group):
        raise MemoryError

    monkeypatch.setattr(spool, "_insert", die)
    spool.submit(_events(spool, b"a"))
    until(spool.broken.is_set)
    spool.submit(_events(spool, b"b"))

    until(lambda: outcomes.errors)
