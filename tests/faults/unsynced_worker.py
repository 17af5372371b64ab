"""Worker whose commits do not wait for the disk: a mutant that a count of syncs detects."""

import sqlite3
from pathlib import Path

from collector import spool, worker

_open = spool.open_spool


def _open_unsynced(path: Path, max_bytes: int) -> sqlite3.Connection:
    connection = _open(path, max_bytes)
    connection.execute("PRAGMA synchronous=NORMAL")
    return connection


if __name__ == "__main__":
    spool.open_spool = _open_unsynced
    worker.main()
