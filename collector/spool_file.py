"""File of the spool: its tables, how it is opened, how full it is, how its log is copied into it.

A commit that finds the log long copies it before it returns: 90 ms for 8,000 pages, in which nobody
gets an answer. A passive checkpoint on a connection of its own never blocks the writer; what is
left to the writer, when the log reaches its bound, is what came since the last of these.
"""

import sqlite3
import threading
from pathlib import Path
from typing import NamedTuple

import structlog

from lineage.input_log.spool_tables import EVENT_TABLE

LOG_PAGES = 16_000  # 64 MiB, as journal_size_limit
SCHEMA = f"""{EVENT_TABLE}CREATE TABLE IF NOT EXISTS rejected (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    received_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    path TEXT,
    detail TEXT NOT NULL,
    body BLOB NOT NULL,
    body_bytes INTEGER NOT NULL,
    origin TEXT NOT NULL DEFAULT 'http'
);
CREATE TABLE IF NOT EXISTS heartbeat (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    beat_at INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS gap (started_at INTEGER PRIMARY KEY, ended_at INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS unforwarded (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    events INTEGER NOT NULL,
    through_seq INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS loss (
    at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    set_aside TEXT NOT NULL,
    saved_events INTEGER NOT NULL,
    lost_events INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS pruned (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    through_seq INTEGER NOT NULL
);
"""

CHECKPOINT_SECONDS = 0.25
_log = structlog.get_logger()


def open_spool(path: Path, max_bytes: int) -> sqlite3.Connection:
    """Return the writing connection, with the tables created.

    Each commit is an fsync (`synchronous=FULL`): in a WAL, NORMAL has none, and an acknowledged
    event would not survive a power cut. Past `max_bytes` SQLite answers SQLITE_FULL, and the
    transaction is undone.
    """
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA busy_timeout=10000")
    # The hashes are all over their index: 32 MiB of its pages stay in memory.
    connection.execute("PRAGMA cache_size=-32768")
    # Most of the log is copied beside the writer; this bounds it all the same.
    connection.execute(f"PRAGMA wal_autocheckpoint={LOG_PAGES}")
    connection.execute("PRAGMA journal_size_limit=67108864")
    page_size = connection.execute("PRAGMA page_size").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count={max(max_bytes // page_size, 64)}")
    connection.executescript(SCHEMA)
    _complete(connection)
    return connection


def _complete(connection: sqlite3.Connection) -> None:
    """Add the column for the origin of rejected bodies to an older file."""
    columns = {row[1] for row in connection.execute("PRAGMA table_info(rejected)")}
    if "origin" not in columns:
        added = "ALTER TABLE rejected ADD COLUMN origin TEXT NOT NULL DEFAULT 'http'"
        connection.execute(added)


class Room(NamedTuple):
    """Bytes used in the file, without its free pages, and the allowed bytes."""

    used_bytes: int
    max_bytes: int

    @property
    def share(self) -> float:
        """Return the used share of the allowed bytes, 0-1."""
        return self.used_bytes / self.max_bytes


def fill_level(connection: sqlite3.Connection) -> Room:
    """Return the current fill level; the bound is that of this connection."""
    pages, free, most, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "max_page_count", "page_size")
    )
    return Room((pages - free) * size, most * size)


def last_seq(connection: sqlite3.Connection) -> int:
    """Return the last assigned number, or 0 before the first."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'event'").fetchone()
    return row[0] if row else 0


def raise_last_seq(connection: sqlite3.Connection, seq: int) -> None:
    """Give out no number up to `seq` any more: readers may have passed it."""
    if seq <= last_seq(connection):
        return
    changed = connection.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'event'", (seq,))
    if changed.rowcount == 0:
        connection.execute("INSERT INTO sqlite_sequence VALUES ('event', ?)", (seq,))


class Losses(NamedTuple):
    """Total counts of damages, of losses, and of lost events at most."""

    times: int
    lost_events: int
    last_at: int  # µs


def record_loss(  # noqa: PLR0913, PLR0917 - a row
    connection: sqlite3.Connection, at: int, reason: str, set_aside: str, saved: int, lost: int
) -> None:
    """Write down what happened to the spool."""
    row = (at, reason, set_aside, saved, lost)
    connection.execute("INSERT INTO loss VALUES (?, ?, ?, ?, ?)", row)


def spool_losses(connection: sqlite3.Connection) -> Losses | None:
    """Return what happened to the spool, or None if nothing happened."""
    sql = "SELECT count(*), sum(lost_events), max(at) FROM loss"
    times, lost, last_at = connection.execute(sql).fetchone()
    return Losses(times, lost, last_at) if times else None


def start_checkpoints(path: Path) -> None:
    """Start a thread that checkpoints the spool until the process ends."""
    threading.Thread(
        target=_run_checkpoints, args=(path,), name="spool-checkpoint", daemon=True
    ).start()


def _run_checkpoints(path: Path) -> None:
    pause = threading.Event()
    connection = sqlite3.connect(path, isolation_level=None)
    failed = False
    while not pause.wait(CHECKPOINT_SECONDS):
        failed = not checkpoint(connection, say=not failed)


def checkpoint(connection: sqlite3.Connection, *, say: bool = True) -> bool:
    """Copy the pages of the WAL that no reader needs any more; return whether that succeeded.

    `say`: log a failure.

    A failure here loses nothing: the log is durable, and what was not copied is copied next time.
    The writer meets the same disk, and decides what becomes of the process.
    """
    try:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    except sqlite3.Error as error:
        if say:
            _log.warning("spool_checkpoint_failed", error=str(error))
        return False
    return True
