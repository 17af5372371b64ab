"""Table of events in the spool: the collector creates it, and tests and made-up spools do."""

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
