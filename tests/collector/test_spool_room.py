"""Deletion from the spool, and a full spool."""

import resource
import sqlite3
from contextlib import closing

import pytest

from collector.events import ValidEvent
from collector.settings import Limits
from collector.spool import Spool
from collector.spool_file import SCHEMA
from collector.writes import Rejected, WriteRequest
from lineage.process import disk
from lineage.process.clock import to_micros
from tests.collector.spools import OLD, events, rows_of, wait_for_groups
from tests.suite.waiting import until


def test_a_full_spool_rejects_events_until_its_readers_advance(tmp_path, started, clock, outcomes):
    """Return SQLITE_FULL, store nothing partly, and continue without a new process."""
    spool = started(Limits(keep_seconds=60, max_spool_bytes=2 << 20))
    sent = 0
    while not outcomes.errors:
        spool.submit(events(spool, *(bytes([sent % 256]) * 60_000 + bytes([n]) for n in range(8))))
        sent += 1
        wait_for_groups(outcomes, sent)
    kept = rows_of(tmp_path, "SELECT count(*) FROM event")[0][0]

    assert outcomes.errors[0][1].sqlite_errorname == "SQLITE_FULL"
    assert kept == outcomes.stored == 8 * (sent - 1)
    assert not spool.broken.is_set()

    clock.forward(61)
    spool.retention.allow_deletion(kept)
    until(lambda: rows_of(tmp_path, "SELECT count(*) FROM event") == [(0,)])
    stored = outcomes.stored
    spool.submit(events(spool, b"z" * 60_000))
    until(lambda: outcomes.stored == stored + 1)


def test_a_used_quota_breaks_no_spool(tmp_path, started, outcomes, monkeypatch):
    """Store events on the same connection once there is room, after an I/O error of SQLite."""
    spool = started()
    spool.submit(events(spool, b"1"))
    wait_for_groups(outcomes, 1)
    monkeypatch.setattr(disk, "disk_problem", lambda _: "the disk is full")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # As a quota, a limit on the size of files fails a write with another error than ENOSPC.
    log = (tmp_path / "spool.db-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (log + 8_192, before[1]))
    try:
        spool.submit(events(spool, b"2" * 60_000))
        until(lambda: outcomes.errors)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert outcomes.errors[0][1].sqlite_errorname == "SQLITE_IOERR_WRITE"
    assert not spool.broken.is_set()
    spool.submit(events(spool, b"3"))
    until(lambda: outcomes.stored == 2)
    assert rows_of(tmp_path, "SELECT body FROM event") == [(b"1",), (b"3",)]


def test_a_full_spool_deletes_events_that_all_have_read(tmp_path, started, outcomes):
    """Delete events younger than the keep time, as an hour may be more than the bound."""
    spool = started(Limits(keep_seconds=3_600, max_spool_bytes=2 << 20))
    for number in range(40):
        bodies = [number.to_bytes(2, "big") * 15_000 + bytes([n]) for n in range(4)]
        spool.submit(events(spool, *bodies))
        wait_for_groups(outcomes, number + 1)
        spool.retention.allow_deletion(outcomes.stored)
        # 64 events of 30 kB fill the spool; none is an hour old.
        until(lambda: rows_of(tmp_path, "SELECT count(*) FROM event")[0][0] < 56)

    assert outcomes.errors == []
    assert outcomes.stored == 160


def test_the_search_for_old_events_has_a_constant_cost(tmp_path, clock, outcomes):
    """Read no row that stays; up to 10 GiB were read each second before."""
    spool = Spool(tmp_path / "spool.db", OLD, clock, outcomes)
    spool._store(  # noqa: SLF001 - as the writer does, without its thread
        [events(spool, *(str(number).encode() for number in range(5_000)))]
    )
    spool.retention.allow_deletion(5_000)
    steps = []
    spool._connection.set_progress_handler(lambda: steps.append(1), 1)  # noqa: SLF001

    spool.retention.prune()

    spool._connection.close()  # noqa: SLF001
    assert 0 < len(steps) < 200


def test_only_old_events_that_all_readers_passed_are_deleted(tmp_path, started, clock, outcomes):
    """Keep events of which one is true, as a reader may be behind or read again."""
    spool = started()
    spool.submit(events(spool, b"1", b"2", b"3"))
    wait_for_groups(outcomes, 1)
    clock.forward(61)
    spool.submit(events(spool, b"4", b"5"))
    wait_for_groups(outcomes, 2)
    spool.retention.allow_deletion(2)
    until(lambda: rows_of(tmp_path, "SELECT seq FROM event ORDER BY seq") == [(3,), (4,), (5,)])

    spool.retention.allow_deletion(4)
    until(lambda: rows_of(tmp_path, "SELECT seq FROM event ORDER BY seq") == [(4,), (5,)])


@pytest.mark.parametrize("jump", [60, 30 * 86_400, 3_650 * 86_400, -3_600, -86_400])
def test_a_clock_that_jumps_does_not_stop_the_deletion(tmp_path, started, clock, outcomes, jump):
    """Delete events behind those that were received under a wrong clock."""
    spool = started()
    clock.forward(jump)
    spool.submit(events(spool, b"1", b"2", b"3"))
    wait_for_groups(outcomes, 1)
    clock.forward(-jump)
    spool.submit(events(spool, b"4", b"5"))
    wait_for_groups(outcomes, 2)

    spool.retention.allow_deletion(5)
    clock.forward(200)

    until(lambda: rows_of(tmp_path, "SELECT count(*) FROM event") == [(0,)])
    assert rows_of(tmp_path, "SELECT through_seq FROM pruned") == [(5,)]


@pytest.mark.parametrize("jump", [240, 30 * 86_400, -3_600])
def test_a_full_spool_is_emptied_at_any_clock(tmp_path, started, clock, outcomes, jump):
    """Delete by the readers' positions only."""
    spool = started(Limits(keep_seconds=3_600, max_spool_bytes=2 << 20))
    clock.forward(jump)
    taken = _full_of(spool, outcomes)
    clock.forward(-jump)

    spool.retention.allow_deletion(taken)

    until(lambda: rows_of(tmp_path, "SELECT count(*) FROM event")[0][0] < taken * 4 // 5)


def test_deletion_leaves_no_hole_in_the_numbers(tmp_path, started, clock, outcomes):
    """Delete only from the beginning, on which readers of a restored catalog rely."""
    spool = started()
    spool.submit(events(spool, b"1"))
    wait_for_groups(outcomes, 1)
    clock.forward(100)
    spool.submit(events(spool, b"2"))
    wait_for_groups(outcomes, 2)
    clock.forward(-100)
    spool.submit(events(spool, b"3"))
    wait_for_groups(outcomes, 3)

    spool.retention.allow_deletion(3)
    clock.forward(130)

    until(lambda: rows_of(tmp_path, "SELECT seq FROM event ORDER BY seq") == [(2,), (3,)])
    assert rows_of(tmp_path, "SELECT through_seq FROM pruned") == [(1,)]


def test_a_number_is_never_used_twice(tmp_path, started, clock, outcomes):
    """Keep a reader's position valid when all rows behind it are deleted."""
    spool = started()
    spool.submit(events(spool, b"1", b"2"))
    wait_for_groups(outcomes, 1)
    clock.forward(61)
    spool.retention.allow_deletion(2)
    until(lambda: rows_of(tmp_path, "SELECT count(*) FROM event") == [(0,)])
    spool.submit(events(spool, b"3"))

    until(lambda: rows_of(tmp_path, "SELECT seq FROM event ORDER BY seq") == [(3,)])


def test_rejected_bodies_are_bounded_in_size_and_number(tmp_path, started, clock):
    """Store the heads of the latest, so that many invalid bodies do not fill the disk."""
    spool = started(Limits(max_rejected_rows=3, max_rejected_bytes=4))
    for number in range(5):
        rejected = Rejected("not_json", "$.a", "why", f"body {number}".encode(), 6)
        spool.submit(WriteRequest((), (spool.rejected_row(rejected),), None))

    rows = "SELECT received_at, reason, path, detail, body, body_bytes FROM rejected"
    kept = (to_micros(clock()), "not_json", "$.a", "why", b"body", 6)
    until(lambda: rows_of(tmp_path, "SELECT id FROM rejected") == [(3,), (4,), (5,)])
    assert rows_of(tmp_path, rows) == [kept] * 3


def test_an_older_spool_gets_the_origin_of_its_rejections(tmp_path, started):
    """Add the column when the file is opened, and count its rows as live."""
    with closing(sqlite3.connect(tmp_path / "spool.db")) as old, old:
        old.executescript(SCHEMA)
        old.execute("ALTER TABLE rejected DROP COLUMN origin")
        old.execute("INSERT INTO rejected VALUES (1, 0, 'depth', NULL, '', '', 0)")

    spool = started()
    rejected = Rejected("depth", None, "", b"", 0, "history")
    spool.submit(WriteRequest((), (spool.rejected_row(rejected),), None))

    rows = "SELECT origin FROM rejected ORDER BY id"
    until(lambda: rows_of(tmp_path, rows) == [("http",), ("history",)])


def _full_of(spool, outcomes, origin="http"):
    """Store events of 30 kB until the spool is nearly full, and return their number."""
    for number in range(200):
        row = spool.event_row(ValidEvent("run", number.to_bytes(2, "big") * 15_000, 0), origin)
        spool.submit(WriteRequest((row,), (), None))
        wait_for_groups(outcomes, number + 1)
        if outcomes.errors:
            return number
    raise AssertionError(number)


def test_events_for_marquez_stay_until_the_spool_is_full(tmp_path, started, outcomes):
    """Drop and count them at 95 %, so that its outage costs producers nothing."""
    spool = started(Limits(keep_seconds=3_600, max_spool_bytes=2 << 20))
    taken = _full_of(spool, outcomes)

    spool.retention.allow_deletion(5, needed=taken)

    until(lambda: rows_of(tmp_path, "SELECT count(*) FROM event")[0][0] < taken)
    dropped = rows_of(tmp_path, "SELECT events, through_seq FROM unforwarded")
    assert dropped == [(taken - 5, taken)]
    stored = outcomes.stored
    spool.submit(events(spool, b"z" * 60_000))
    until(lambda: outcomes.stored == stored + 1)


def test_events_from_marquez_are_not_counted_as_dropped(tmp_path, started, outcomes):
    """Count nothing, as they were not to be forwarded."""
    spool = started(Limits(keep_seconds=3_600, max_spool_bytes=2 << 20))
    taken = _full_of(spool, outcomes, origin="marquez")

    spool.retention.allow_deletion(5, needed=taken)

    until(lambda: rows_of(tmp_path, "SELECT count(*) FROM event")[0][0] < taken)
    assert rows_of(tmp_path, "SELECT events FROM unforwarded") == []
