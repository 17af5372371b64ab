"""Spool of the collector, opened for reading, and its events in the order of their commits.

Only the collector writes it.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import msgspec

from lineage.input_log.spool_tables import count_waiting
from lineage.origins import FROM_MARQUEZ
from lineage.process.disk import disk_problem
from service.errors import UnreachableError

# Earlier releases gave numbers to repeats, too: the last one may belong to no event.
LAST_STORED: Final = """
SELECT coalesce((SELECT max(seq) FROM event), (SELECT through_seq FROM pruned))
"""
_LAST_GIVEN = "SELECT seq FROM sqlite_sequence WHERE name = 'event'"

_MAX_BYTES = 16_777_216
_AFTER = "SELECT seq, origin, body FROM event WHERE seq > ? ORDER BY seq LIMIT ?"
_LATEST = "SELECT body FROM event ORDER BY seq DESC LIMIT ?"


@contextmanager
def open_read_only(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Return a connection that never writes, or none if there is no spool yet.

    Raises:
        UnreachableError: the file is damaged, or cannot be read.
    """
    if not path.is_file():
        yield None
        return
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=10)) as spool:
            # Its file is there a moment before its tables.
            wanted = "SELECT 1 FROM sqlite_master WHERE name = 'pruned'"
            yield spool if spool.execute(wanted).fetchone() else None
    except sqlite3.Error as error:
        reason = disk_problem(path.parent) or error
        raise UnreachableError(f"the spool {path} cannot be read: {reason}") from error


def first_figure(spool: sqlite3.Connection, sql: str) -> int | None:
    """Return the one figure of a query, or none without a row."""
    row = spool.execute(sql).fetchone()
    return row[0] if row else None


class Spooled(msgspec.Struct, frozen=True):
    """Acknowledged event."""

    seq: int
    origin: str
    body: bytes

    @property
    def is_for_marquez(self) -> bool:
        """Return whether the event is forwarded; events that came from Marquez are not."""
        return self.origin not in FROM_MARQUEZ


def spooled_after(path: Path, seq: int, most: int) -> list[Spooled]:
    """Return the next events, up to 16 MiB of them; none where there is no spool yet."""
    found: list[Spooled] = []
    size = 0
    with open_read_only(path) as spool:
        for row in spool.execute(_AFTER, (seq, most)) if spool else ():
            found.append(Spooled(*row))
            size += len(found[-1].body)
            if size >= _MAX_BYTES:
                break
    return found


def latest_bodies(path: Path, most: int) -> Iterator[bytes]:
    """Return the bodies of the newest events, newest first."""
    with open_read_only(path) as spool:
        for row in spool.execute(_LATEST, (most,)) if spool else ():
            yield row[0]


def read_last_given(path: Path) -> int | None:
    """Return the last number given out; None where there is no spool."""
    with open_read_only(path) as spool:
        return (first_figure(spool, _LAST_GIVEN) or 0) if spool else None


def read_last_stored(path: Path) -> int | None:
    """Return the number of the newest event; None where there is no spool."""
    with open_read_only(path) as spool:
        return (first_figure(spool, LAST_STORED) or 0) if spool else None


def read_waiting(path: Path, seq: int) -> int | None:
    """Return how many events are stored behind `seq`; None where there is no spool."""
    with open_read_only(path) as spool:
        return count_waiting(spool, seq) if spool else None


def count_unforwarded(path: Path) -> int:
    """Return how many events left a full spool before their turn."""
    with open_read_only(path) as spool:
        return (first_figure(spool, "SELECT events FROM unforwarded") or 0) if spool else 0
