"""Worker that reports to the spool which events all readers have passed, by the catalog.

Off the ack path: a catalog that is away delays the pruning, and nothing else.
"""

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import structlog

from collector import metrics
from collector.damage import find_damaged_row, open_to_read
from collector.high_water import NOT_READ, Cursors
from collector.settings import CollectorLocation, CollectorSettings
from collector.spool import Spool
from collector.spool_file import last_seq
from lineage.catalog.trouble import CatalogError

INTERVAL_SECONDS = 30.0
_LOOKED_AT_BYTES = 134_217_728  # more than one batch of the pipeline
_log = structlog.get_logger()


def start(spool: Spool, settings: CollectorSettings) -> None:
    """Ask for the cursors every 30 s, in a thread that ends with the process."""
    threading.Thread(target=_run, args=(spool, settings), daemon=True, name="prune").start()


def read_or_nothing(place: CollectorLocation) -> Cursors:
    """Return what readers have passed; nothing if the catalog cannot be read."""
    from msgspec import DecodeError  # noqa: PLC0415 - as below
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415 - as below

    from collector.cursors import read_cursors  # noqa: PLC0415

    try:
        return read_cursors(place) or NOT_READ
    except (SQLAlchemyError, CatalogError, sqlite3.Error, OSError, DecodeError) as error:
        metrics.PRUNE_FAILURES.inc()
        _log.warning("cursors_unreadable", error=str(error)[:200])
        return NOT_READ


def _run(spool: Spool, settings: CollectorSettings) -> None:
    # SQLAlchemy takes a third of a second to import, which the first event must not wait for.
    before = NOT_READ
    while True:
        time.sleep(INTERVAL_SECONDS)
        cursors = read_or_nothing(settings.place)
        if cursors != NOT_READ:
            spool.passed.through(cursors.lowest, cursors.needed)
            look_ahead(spool, settings.place, before, cursors)
        before = cursors


def look_ahead(spool: Spool, place: CollectorLocation, before: Cursors, now: Cursors) -> None:
    """Have the spool looked through where readers cannot go on in it, or have passed its end."""
    path = place.data_dir / "spool.db"
    reason = None
    last = _last_seq(path)  # asked after the cursors, which it is never behind
    if last is not None and now.highest > last:
        reason = f"readers have passed {now.highest}, the spool's last number is {last}"
    elif now.needed == before.needed and now.needed != last:
        reason = find_damaged_row(path, now.needed, _LOOKED_AT_BYTES)
    if reason is not None:
        _log.error("spool_suspect", reason=reason)
        spool.suspect()


def _last_seq(path: Path) -> int | None:
    """Return the last number of the spool, or None if it cannot be read."""
    try:
        with closing(open_to_read(path)) as spool:
            return last_seq(spool)
    except sqlite3.DatabaseError:
        return None
