"""Worker that reads the cursors of the readers for the spool, which deletes by them.

Off the ack path: a catalog that is away delays the deletion, and nothing else.
"""

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import structlog

from collector.cursors import NOT_READ, Cursors, read_or_nothing
from collector.damage import find_damaged_row, open_to_read
from collector.settings import CollectorLocation, CollectorSettings
from collector.spool import Spool
from collector.spool_file import last_seq

INTERVAL_SECONDS = 30.0
_LOOKED_AT_BYTES = 134_217_728  # more than one batch of the pipeline
_log = structlog.get_logger()


def start(spool: Spool, settings: CollectorSettings) -> None:
    """Ask for the cursors every 30 s, in a thread that ends with the process."""
    threading.Thread(target=_run, args=(spool, settings), daemon=True, name="cursors").start()


def _run(spool: Spool, settings: CollectorSettings) -> None:
    # SQLAlchemy takes a third of a second to import, which the first event must not wait for.
    before = NOT_READ
    while True:
        time.sleep(INTERVAL_SECONDS)
        cursors = read_or_nothing(settings.place)
        if cursors != NOT_READ:
            spool.retention.allow_deletion(cursors.lowest, needed=cursors.needed)
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
