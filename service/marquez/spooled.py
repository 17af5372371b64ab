"""The spool as the forwarder reads it: in the order of commits, and never writing."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from lineage.origins import FROM_MARQUEZ

_MAX_BYTES = 16_777_216
_AFTER = "SELECT seq, origin, body FROM event WHERE seq > ? ORDER BY seq LIMIT ?"
_LATEST = "SELECT body FROM event ORDER BY seq DESC LIMIT ?"


class Spooled(msgspec.Struct, frozen=True):
    """An event that was acknowledged."""

    seq: int
    origin: str
    body: bytes

    @property
    def is_for_marquez(self) -> bool:
        """Whether it is to be forwarded: what was pulled from there is not."""
        return self.origin not in FROM_MARQUEZ


def spooled_after(path: Path, seq: int, most: int) -> list[Spooled]:
    """The next events, up to 16 MiB of them; none where there is no spool yet."""
    found: list[Spooled] = []
    size = 0
    with _reading(path) as spool:
        for row in spool.execute(_AFTER, (seq, most)) if spool else ():
            found.append(Spooled(*row))
            size += len(found[-1].body)
            if size >= _MAX_BYTES:
                break
    return found


def latest_bodies(path: Path, most: int) -> Iterator[bytes]:
    """Bodies of the newest events, the newest first."""
    with _reading(path) as spool:
        for row in spool.execute(_LATEST, (most,)) if spool else ():
            yield row[0]


def last_seq(path: Path) -> int | None:
    """The last number given out; none where there is no spool."""
    sql = "SELECT seq FROM sqlite_sequence WHERE name = 'event'"
    with _reading(path) as spool:
        return _first(spool, sql) if spool else None


def unforwarded(path: Path) -> int:
    """Events that left a full spool before their turn."""
    with _reading(path) as spool:
        return _first(spool, "SELECT events FROM unforwarded") if spool else 0


def _first(spool: sqlite3.Connection, sql: str) -> int:
    row = spool.execute(sql).fetchone()
    return int(row[0]) if row else 0


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection | None]:
    if not path.is_file():
        yield None
        return
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=10)) as spool:
        # Its file is there a moment before its tables.
        there = spool.execute("SELECT 1 FROM sqlite_master WHERE name = 'unforwarded'").fetchone()
        yield spool if there else None
