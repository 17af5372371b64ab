"""Problems of an embedded catalog's file, each in a sentence that says what to do."""

import sqlite3
from pathlib import Path
from typing import Final

from lineage.process.disk import disk_problem

_CORRUPT: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PRIMARY: Final = 0xFF  # of an extended error code
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
            f"the catalog {path} is damaged: stop `lineward up`, then restore the file from a"
            " backup, or move it away to start with an empty one"
            " (docs/operations.md#a-damaged-catalog)"
        )


class CatalogDiskError(CatalogError):
    """Error: the file, as far as known, is intact, but cannot be read or written now."""


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
