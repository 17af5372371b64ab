"""Opening of the spool: damage is repaired before use, and losses are reported."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path

import structlog

from collector.cursors import Cursors
from collector.damage import find_damage
from collector.high_water import high_water_of
from collector.repair import RepairInputs, finish_repair, repair_spool
from collector.settings import Limits
from collector.spool_file import last_seq, open_spool, raise_last_seq, record_loss
from lineage.process.clock import to_micros

ReadCursors = Callable[[], Cursors]  # asks the catalog: it takes a while
_log = structlog.get_logger()


def make_whole(
    path: Path, limits: Limits, read_cursors: ReadCursors, now: datetime, *, is_suspect: bool
) -> None:
    """Repair the file where it is damaged; afterwards no number is given out twice.

    Args:
        path: of the spool.
        limits: its size, and how long events stay.
        read_cursors: what readers have passed.
        now: for the record.
        is_suspect: somebody could not read it, or has passed what it does not have.

    Raises:
        sqlite3.Error: the file cannot be opened, or a new one cannot be written.
        OSError: as above.
    """
    finish_repair(path)
    noted = high_water_of(path).read()
    reason = find_damage(path, thoroughly=is_suspect)
    if reason is None and noted and not path.exists():
        reason = f"{path.name} is gone"
    if reason is not None:
        _log.error("spool_damaged", path=str(path), reason=reason)
        known = RepairInputs(noted, read_cursors(), limits.keep_seconds)
        repaired = repair_spool(path, reason, known, now, limits.max_spool_bytes)
        _log.error("spool_repaired", **repaired._asdict())
    elif is_suspect or noted:
        _compare(path, limits, noted, read_cursors, now, is_suspect=is_suspect)


def _compare(  # noqa: PLR0913 - the arguments of `make_whole`, and the mark
    path: Path,
    limits: Limits,
    noted: int,
    read_cursors: ReadCursors,
    now: datetime,
    *,
    is_suspect: bool,
) -> None:
    with closing(open_spool(path, limits.max_spool_bytes)) as spool:
        last = last_seq(spool)
        if noted <= last and not is_suspect:
            return
        cursors = read_cursors()
        spool.execute("BEGIN IMMEDIATE")
        if noted > last:
            _record_lost_end(spool, last, noted, cursors, now)
        elif cursors.highest > last:
            _move_behind(spool, cursors.highest)
        spool.execute("COMMIT")


def _record_lost_end(
    spool: sqlite3.Connection, last: int, noted: int, cursors: Cursors, now: datetime
) -> None:
    """Report that the newest events are gone, e.g. with `spool.db-wal`."""
    lost = max(0, noted - max(last, cursors.needed))
    at = to_micros(now)
    sql = "SELECT coalesce((SELECT beat_at FROM heartbeat), (SELECT max(received_at) FROM event))"
    (since,) = spool.execute(sql).fetchone()
    reason = f"numbers {last + 1} to {noted} were given out and are gone: was spool.db-wal deleted?"
    record_loss(spool, at, reason, "", 0, lost)
    if since is not None:
        spool.execute("INSERT OR REPLACE INTO gap VALUES (?, ?)", (min(since, at), at))
    raise_last_seq(spool, max(noted, cursors.highest))
    _log.error("spool_lost_events", reason=reason, lost_events=lost)


def _move_behind(spool: sqlite3.Connection, passed: int) -> None:
    """Renumber all events behind the readers' cursors, so that readers find them.

    An older spool was put back. What it has that was read before is read again, and counts once.
    """
    spool.execute("UPDATE event SET seq = seq + ?", (passed,))
    (highest,) = spool.execute("SELECT coalesce(max(seq), 0) FROM event").fetchone()
    raise_last_seq(spool, max(passed, highest))
    _log.error("spool_behind_its_readers", read_through=passed)
