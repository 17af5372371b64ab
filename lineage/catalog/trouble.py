"""Problems of an embedded catalog's file, each in a sentence that says what to do."""

import sqlite3
from pathlib import Path
from typing import Final

from lineage.process.disk import disk_problem

_CORRUPT: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PRIMARY: Final = 0xFF  # of an extended error code
BUSY_SECONDS: Final = 10  # for which each connection waits for a lock
_STATEMENT: Final = frozenset(
    {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH}
)
_DISK: Final = {
    sqlite3.SQLITE_FULL: "its disk is full: free some space",
    sqlite3.SQLITE_IOERR: "its disk fails to read or write: look at the kernel's log",
    sqlite3.SQLITE_READONLY: "it is read-only for this user",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened by this user",
    sqlite3.SQLITE_PERM: "it cannot be opened by this user",
}


class CatalogError(Exception):
    """Error that makes the catalog unusable; its text is a sentence for operators."""


class DamagedCatalogError(CatalogError):
    """Error: the file is not an SQLite database, or some of its pages are damaged."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"the catalog {path} is damaged: `lineward runbook restoring` prints how to restore it."
            " Move catalog.db, catalog.db-wal and catalog.db-shm together, not catalog.db alone"
        )


class CatalogDiskError(CatalogError):
    """Error: the file, as far as known, is intact, but cannot be read or written now."""


class BusyCatalogError(CatalogError):
    """Error: another process holds the write lock of the file."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"the catalog {path} was locked by another process for over {BUSY_SECONDS} s: try"
            " again; if it stays locked, stop `lineward up` and start it again"
        )


def translated_error(error: BaseException, path: str) -> CatalogError | None:
    """Return the error to raise in place of one of sqlite3's; None where it says something else."""
    if not isinstance(error, sqlite3.Error):
        return None
    code = (getattr(error, "sqlite_errorcode", None) or 0) & _PRIMARY
    if code in _CORRUPT:
        return DamagedCatalogError(path)
    if code in _DISK:
        # SQLite cannot make the file beside it that it reads through, and calls that an I/O error.
        problem = disk_problem(Path(path).parent)
        return CatalogDiskError(f"the catalog {path}: {problem or f'{_DISK[code]} ({error})'}")
    return None


def explain_sqlite_error(error: sqlite3.Error, path: str) -> CatalogError | None:
    """Return the error to report for any failure of the file; None for an invalid statement."""
    if (trouble := translated_error(error, path)) is not None:
        return trouble
    code = (getattr(error, "sqlite_errorcode", None) or 0) & _PRIMARY
    if code == sqlite3.SQLITE_BUSY:
        return BusyCatalogError(path)
    # The traceback of an invalid statement shows a bug, which no operator can repair.
    is_bug = not code or code in _STATEMENT
    return None if is_bug else CatalogError(f"the catalog {path} cannot be used: {error}")


def is_damaged(path: str) -> bool:
    """Return whether a page of the file is damaged. Takes seconds for a large file."""
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
        try:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",))
        finally:
            connection.close()
    except sqlite3.Error as error:
        return isinstance(translated_error(error, path), DamagedCatalogError)
