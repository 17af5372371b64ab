"""Spool of the collector, opened for reading; only the collector writes it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from lineage.process.disk import disk_problem
from service.errors import UnreachableError

LAST_SEQ: Final = "SELECT seq FROM sqlite_sequence WHERE name = 'event'"  # the last given out


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection | None]:
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
            wanted = "SELECT 1 FROM sqlite_master WHERE name = 'unforwarded'"
            yield spool if spool.execute(wanted).fetchone() else None
    except sqlite3.Error as error:
        reason = disk_problem(path.parent) or error
        raise UnreachableError(f"the spool {path} cannot be read: {reason}") from error


def first(spool: sqlite3.Connection, sql: str) -> int | None:
    """Return the one figure of a query, or none without a row."""
    row = spool.execute(sql).fetchone()
    return row[0] if row else None
