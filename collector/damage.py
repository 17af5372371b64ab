"""Search for damage in the spool's file, and for the rows that can be believed."""

import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lineage import origins

# Checked at each start: 64 MiB take a fifth of a second. What is larger is checked once a write or
# a reader has failed on it.
CHECKED_BYTES = 67_108_864
_KINDS = ("run", "job", "dataset")
_ORIGINS = (
    *(origins.HTTP, origins.HISTORY, origins.FILE, origins.KAFKA),
    *(origins.MARQUEZ, origins.MARQUEZ_HISTORY),
)
_PATIENCE = 10_000


class StoredEvent(NamedTuple):
    """Row of the table `event`."""

    seq: int
    body_hash: bytes
    received_at: int
    origin: str
    kind: str
    duplicate_keys: int
    body: bytes

    @property
    def is_whole(self) -> bool:
        """Return whether the body is the acknowledged one, and its row can be read."""
        return (
            isinstance(self.body, bytes)
            and hashlib.sha256(self.body).digest() == self.body_hash
            and isinstance(self.received_at, int)
            and isinstance(self.duplicate_keys, int)
            and self.origin in _ORIGINS
            and self.kind in _KINDS
        )


_SCAN = f"SELECT {', '.join(StoredEvent._fields)} FROM event WHERE seq > ? ORDER BY seq"  # noqa: S608 - our own names


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether the file's contents are wrong; a full or failing disk is no damage."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def find_damage(path: Path, *, thoroughly: bool) -> str | None:
    """Return what is wrong with the file; None where nothing is found, or there is no file.

    Args:
        path: of the spool.
        thoroughly: read all of it, however large it is.

    Raises:
        sqlite3.Error: it cannot be opened for another reason.
    """
    if not path.is_file():
        return None
    try:
        connection = open_to_read(path)
        try:
            reads_all = thoroughly or _size(path) <= CHECKED_BYTES
            return _find_in(connection, reads_all=reads_all)
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return str(error)
        raise


def find_damaged_row(path: Path, after: int, max_bytes: int) -> str | None:
    """Return what is wrong with the rows behind `after`, as many as have `max_bytes`."""
    try:
        connection = open_to_read(path)
        try:
            return _find_row(connection, after, max_bytes)
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        return str(error) if is_damage(error) else None


def open_to_read(path: Path) -> sqlite3.Connection:
    """Return a connection that never writes to the file."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10)


def readable_events(connection: sqlite3.Connection, top: int) -> Iterator[StoredEvent]:
    """Return the whole events up to number `top`, in order; damaged parts are skipped."""
    after, failures = 0, 0
    is_at_end = False
    while after < top and not is_at_end:
        try:
            for event in _events_after(connection, after):
                after, failures = event.seq, 0
                if event.is_whole and event.seq <= top:
                    yield event
            is_at_end = True
        except sqlite3.DatabaseError:
            # A damaged page has up to hundreds of rows: each may be the last of them.
            failures += 1
            after += 1 if failures < _PATIENCE else failures


def _find_in(connection: sqlite3.Connection, *, reads_all: bool) -> str | None:
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not reads_all:
        return None
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        return str(found).replace("\n", " ")
    has_events = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'event'").fetchone()
    return _find_row(connection, 0, None) if has_events else None


def _find_row(connection: sqlite3.Connection, after: int, max_bytes: int | None) -> str | None:
    read_bytes = 0
    for event in _events_after(connection, after):
        if not event.is_whole:
            return f"event {event.seq} is not what was acknowledged"
        read_bytes += len(event.body)
        if max_bytes is not None and read_bytes > max_bytes:
            return None
    return None


def _events_after(connection: sqlite3.Connection, number: int) -> Iterator[StoredEvent]:
    yield from map(StoredEvent._make, connection.execute(_SCAN, (number,)))


def _size(path: Path) -> int:
    log = path.with_name(f"{path.name}-wal")
    return path.stat().st_size + (log.stat().st_size if log.exists() else 0)
