"""Table of events in the spool: the collector creates it, and tests and made-up spools do."""

import sqlite3
from typing import Final

EVENT_TABLE: Final = """
CREATE TABLE IF NOT EXISTS event (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    body_hash BLOB NOT NULL UNIQUE,
    received_at INTEGER NOT NULL,
    origin TEXT NOT NULL,
    kind TEXT NOT NULL,
    duplicate_keys INTEGER NOT NULL DEFAULT 0,
    body BLOB NOT NULL
);
"""

# Not the last number that was given out: earlier releases gave numbers to repeats, too, which they
# did not store. A count of the rows would read every page of a long backlog.
_WAITING: Final = """
SELECT (SELECT seq FROM event WHERE seq > ?1 ORDER BY seq DESC LIMIT 1)
    - (SELECT seq FROM event WHERE seq > ?1 ORDER BY seq LIMIT 1) + 1
"""


def count_waiting(spool: sqlite3.Connection, seq: int) -> int:
    """Return how many events are stored behind `seq`.

    Numbers that are missing between two of these events count too.
    """
    (waiting,) = spool.execute(_WAITING, (seq,)).fetchone()
    return int(waiting or 0)
