"""Repair of a damaged spool: it is set aside, and a new one gets all readable events.

The new file is built beside the old one and takes its name when it is complete: a process that is
killed in between loses nothing of what was saved.
"""

import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from collector.cursors import Cursors
from collector.damage import StoredEvent, open_to_read, readable_events
from collector.spool_file import last_seq, open_spool, raise_last_seq, record_loss
from lineage.process.clock import SECOND_MICROS, to_micros

_UNKNOWN_TOP = 1_000_000  # numbers that are tried where nothing says how many there were
_ROWS_A_COMMIT = 1_000
_SUFFIXES = ("", "-wal", "-shm")
_INSERT = "INSERT OR IGNORE INTO event VALUES (?, ?, ?, ?, ?, ?, ?)"
# Whatever can be read of the rest, up to the first damage: none of it was acknowledged.
_OTHER_TABLES = {
    "rejected": "id, received_at, reason, path, detail, body, body_bytes, origin",
    "gap": "started_at, ended_at",
    "heartbeat": "id, beat_at",
    "unforwarded": "id, events, through_seq",
    "loss": "at, reason, set_aside, saved_events, lost_events",
    "pruned": "id, through_seq",
}


class Repaired(NamedTuple):
    """Result of the repair of a damaged spool.

    Attributes:
        lost_events: at most so many that no reader had read; numbers that repeats took in earlier
            releases count.
    """

    set_aside: str
    saved_events: int
    lost_events: int


class RepairInputs(NamedTuple):
    """Inputs of a repair that do not come from the damaged file.

    Attributes:
        noted: the last number by the high-water mark; 0: unknown.
        cursors: what readers have passed.
        keep_seconds: for which events stay that were read.
    """

    noted: int
    cursors: Cursors
    keep_seconds: float


def finish_repair(path: Path) -> None:
    """Bring a repair to its end that was interrupted."""
    for suffix in _SUFFIXES:
        _beside(path, f"repairing{suffix}").unlink(missing_ok=True)
        _beside(path, f"grafted{suffix}").unlink(missing_ok=True)
    repaired = _beside(path, "repaired")
    if repaired.exists():
        if path.exists():
            _set_aside(path, path.with_name(_noted_name(repaired)))
        repaired.rename(path)


def _noted_name(repaired: Path) -> str:
    """Return the name of the damaged file in the newest record of a loss."""
    # Nobody writes to the file, and a connection of another kind would leave files beside it.
    url = f"{repaired.absolute().as_uri()}?immutable=1"
    with closing(sqlite3.connect(url, uri=True)) as spool:
        name: str
        (name,) = spool.execute("SELECT set_aside FROM loss ORDER BY at DESC LIMIT 1").fetchone()
    return name


def repair_spool(
    path: Path, reason: str, known: RepairInputs, now: datetime, max_bytes: int
) -> Repaired:
    """Build a new spool of what can be read, and give it the damaged one's name.

    Raises:
        sqlite3.Error: the new one cannot be written, e.g. on a full disk.
        OSError: as above.
    """
    fresh = _beside(path, "repairing")
    aside = _beside(path, f"damaged-{now:%Y%m%dT%H%M%SZ}")
    with closing(open_spool(fresh, max_bytes)) as new:
        repaired = Repaired(aside.name, *_save(path, fresh, new, known, now))
        record_loss(new, to_micros(now), reason, *repaired)
        new.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    fresh.rename(_beside(path, "repaired"))
    _set_aside(path, aside)
    _beside(path, "repaired").rename(path)
    for suffix in _SUFFIXES:
        _beside(path, f"grafted{suffix}").unlink(missing_ok=True)
    return repaired


def _save(
    path: Path, fresh: Path, new: sqlite3.Connection, known: RepairInputs, now: datetime
) -> tuple[int, int]:
    """Copy what can be read; return how many events were saved and lost."""
    with closing(_open_damaged(path, fresh, new)) as old:
        noted = max(known.noted, _last_seq_of(old))
        holes = _Holes(known.cursors.needed)
        new.execute("BEGIN")
        for event in readable_events(old, noted or _UNKNOWN_TOP):
            new.execute(_INSERT, event)
            holes.see(event)
            if holes.saved % _ROWS_A_COMMIT == 0:
                new.execute("COMMIT")  # so that the log beside the new file stays small
                new.execute("BEGIN")
        for table, columns in _OTHER_TABLES.items():
            _copy(old, new, table, columns)
    top = max(noted, holes.last_seq)
    raise_last_seq(new, max(top, known.cursors.highest))
    lost = holes.lost_through(top)
    if lost:
        start, end = holes.span(now, known.keep_seconds)
        new.execute("INSERT OR REPLACE INTO gap VALUES (?, ?)", (start, end))
    new.execute("COMMIT")
    return holes.saved, lost


class _Holes:
    """Numbers that are missing among the events that were saved."""

    def __init__(self, read_through: int) -> None:
        self._lost = 0
        self._has_hole = False
        self._before: int | None = None  # when the last event before the first hole was received
        self._after: int | None = None  # when the first event after the last hole was
        self._received_at: int | None = None
        self.last_seq = read_through
        self.saved = 0

    def see(self, event: StoredEvent) -> None:
        """Take the next saved event into account."""
        self.saved += 1
        missing = event.seq - self.last_seq - 1
        if missing > 0:
            self._add(missing)
            self._after = event.received_at
        self._received_at = event.received_at
        self.last_seq = max(self.last_seq, event.seq)

    def lost_through(self, top: int) -> int:
        """Return how many events are missing up to `top`."""
        if top > self.last_seq:
            self._add(top - self.last_seq)
            self._after = None
        return self._lost

    def _add(self, missing: int) -> None:
        self._lost += missing
        if not self._has_hole:  # None at the beginning of the spool: no event is before it
            self._has_hole, self._before = True, self._received_at

    def span(self, now: datetime, keep_seconds: float) -> tuple[int, int]:
        """Return the first and last time at which the missing events were received, in µs."""
        end = to_micros(now) if self._after is None else self._after
        since = to_micros(now) - int(keep_seconds * SECOND_MICROS)
        start = since if self._before is None else self._before
        return min(start, end), end


def _open_damaged(path: Path, fresh: Path, new: sqlite3.Connection) -> sqlite3.Connection:
    if not path.exists():
        return sqlite3.connect(":memory:")
    connection = open_to_read(path)
    try:
        connection.execute("SELECT max(seq) FROM event").fetchone()
    except sqlite3.DatabaseError:
        connection.close()
        return open_to_read(_graft(path, fresh, new))
    return connection


def _graft(path: Path, fresh: Path, new: sqlite3.Connection) -> Path:
    """Copy the damaged file, and give the copy the first page of a new spool.

    The first page says where each table begins. Every spool has its tables in the same places.
    """
    new.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    grafted = _beside(path, "grafted")
    shutil.copyfile(path, grafted)
    log = path.with_name(f"{path.name}-wal")
    if log.exists():
        shutil.copyfile(log, _beside(path, "grafted-wal"))
    page_size = new.execute("PRAGMA page_size").fetchone()[0]
    page = bytearray(fresh.read_bytes()[:page_size])
    pages = max(1, path.stat().st_size // page_size)
    page[28:40] = struct.pack(">III", pages, 0, 0)  # its size; no free pages
    with grafted.open("r+b") as file:
        file.write(page)
    return grafted


def _copy(old: sqlite3.Connection, new: sqlite3.Connection, table: str, columns: str) -> None:
    marks = ", ".join("?" * len(columns.split(",")))
    insert = f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608 - our own names
    for row in _until_damage(old, f"SELECT {columns} FROM {table}"):  # noqa: S608 - as above
        with suppress(sqlite3.IntegrityError):  # a value that no row of ours has
            new.execute(insert, row)


def _until_damage(old: sqlite3.Connection, sql: str) -> Iterator[tuple[object, ...]]:
    with suppress(sqlite3.DatabaseError):
        yield from old.execute(sql)


def _last_seq_of(connection: sqlite3.Connection) -> int:
    try:
        found = last_seq(connection)
    except sqlite3.DatabaseError:
        return 0
    return found if isinstance(found, int) and found >= 0 else 0


def _set_aside(path: Path, aside: Path) -> None:
    for suffix in _SUFFIXES[::-1]:  # the file last: while it is there, the repair is not complete
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(aside.with_name(aside.name + suffix))


def _beside(path: Path, word: str) -> Path:
    return path.with_name(f"{path.name}.{word}")
