"""Events, commits and reports of the spool."""

import sqlite3
import threading

import pytest

from collector import spool_file
from collector.spool_file import open_spool
from lineage.process.clock import to_micros
from tests.collector.spools import NOON, events, rows_of, wait_for_groups
from tests.suite.waiting import until


def test_a_repeat_is_one_row_and_the_first_one_stays(tmp_path, started, clock, outcomes):
    """Store the same bytes once, as senders repeat what was not answered in time."""
    spool = started()
    spool.submit(events(spool, b"a", b"b", b"a"))
    wait_for_groups(outcomes, 1)
    clock.forward(1)
    spool.submit(events(spool, b"a"))
    wait_for_groups(outcomes, 2)

    rows = rows_of(tmp_path, "SELECT seq, received_at, origin, kind, body FROM event")

    at = to_micros(NOON)
    assert rows == [(1, at, "http", "run", b"a"), (2, at, "http", "run", b"b")]
    assert outcomes.stored == 2


def test_a_repeat_takes_no_number(tmp_path, started, outcomes):
    """Number stored events only: a hole would look like an event that waits, or was lost.

    With `INSERT OR IGNORE` the last event has the number 606, and the last number is 906.
    """
    many = [str(number).encode() for number in range(300)]
    spool = started()
    writes = ([b"a", b"b"], [b"b", b"a"], [b"c", b"a", b"c"], many, [*many, b"d"], many)
    for number, bodies in enumerate(writes, start=1):
        spool.submit(events(spool, *bodies))
        wait_for_groups(outcomes, number)

    last = rows_of(tmp_path, "SELECT seq FROM sqlite_sequence WHERE name = 'event'")
    assert last == [(304,)]
    assert rows_of(tmp_path, "SELECT seq FROM event ORDER BY seq") == [(n,) for n in range(1, 305)]
    assert (outcomes.stored, outcomes.errors) == (304, [])


def test_without_the_unique_hash_a_repeat_is_two_rows(tmp_path, started, outcomes, monkeypatch):
    """Run the mutant: remove the unique hash."""
    monkeypatch.setattr(
        spool_file, "SCHEMA", spool_file.SCHEMA.replace("BLOB NOT NULL UNIQUE", "BLOB NOT NULL")
    )
    spool = started()
    spool.submit(events(spool, b"a", b"a"))
    wait_for_groups(outcomes, 1)

    assert rows_of(tmp_path, "SELECT count(*) FROM event") == [(2,)]


def test_all_waiting_events_are_one_commit(started, outcomes, monkeypatch):
    """Group commit: an fsync is paid by a batch, not by an event."""
    spool = started()
    free = threading.Event()
    busy = threading.Event()
    insert = spool._store  # noqa: SLF001 - holds the writer where a slow disk would

    def slow(group):
        busy.set()
        free.wait(30)
        return insert(group)

    monkeypatch.setattr(spool, "_store", slow)
    spool.submit(events(spool, b"first"))
    assert busy.wait(30)
    for number in range(50):
        spool.submit(events(spool, str(number).encode()))
    free.set()
    wait_for_groups(outcomes, 51)

    assert [size for size in outcomes.groups if size] == [1, 50]


def test_each_commit_is_an_fsync(tmp_path):
    """Set FULL, since NORMAL syncs at no commit of a WAL."""
    connection = open_spool(tmp_path / "spool.db", 1 << 30)

    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_heartbeats_continue_without_events(tmp_path, started, clock):
    """Store a heartbeat each second, so that readers distinguish silence from a dead collector."""
    started()
    clock.forward(5)
    now = to_micros(clock())

    until(lambda: rows_of(tmp_path, "SELECT beat_at FROM heartbeat") == [(now,)])


@pytest.mark.parametrize(("away", "is_gap"), [(2.9, False), (3.1, True)])
def test_time_without_a_collector_is_stored_as_a_gap(tmp_path, started, clock, away, is_gap):
    """Store it, as events of that time may be missing."""
    started().stop()
    clock.forward(away)
    started().stop()

    gap = (to_micros(NOON), to_micros(clock()))
    assert rows_of(tmp_path, "SELECT started_at, ended_at FROM gap") == [gap] * is_gap


def test_a_failed_sync_ends_the_writer_and_no_one_waits_for_it(started, outcomes, monkeypatch):
    """End the writer, as only a new process knows what is on disk after EIO."""
    spool = started()
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = "SQLITE_IOERR_FSYNC"

    def fail(_group):
        raise error

    monkeypatch.setattr(spool, "_store", fail)
    spool.submit(events(spool, b"a"))
    until(spool.broken.is_set)
    spool.submit(events(spool, b"b"))
    wait_for_groups(outcomes, 2)

    assert [size for size in outcomes.groups if size] == []
    assert outcomes.errors[0][1] is error


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_any_error_of_the_writer_breaks_the_spool(tmp_path, started, outcomes, monkeypatch):
    """Answer waiting senders, and store the same events by the next writer."""
    spool = started()

    def die(_group):
        raise MemoryError

    monkeypatch.setattr(spool, "_store", die)
    spool.submit(events(spool, b"a"))
    until(spool.broken.is_set)
    spool.submit(events(spool, b"b"))
    until(lambda: len(outcomes.errors) == 2)

    assert [size for size, _ in outcomes.errors] == [1, 1]
    assert rows_of(tmp_path, "SELECT count(*) FROM event") == [(0,)]
    again = started()
    again.submit(events(again, b"a", b"b"))
    until(lambda: outcomes.stored == 2)
    assert rows_of(tmp_path, "SELECT body FROM event ORDER BY seq") == [(b"a",), (b"b",)]
