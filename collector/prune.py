"""Tells the spool which events every reader has passed, by their cursors in the catalog.

Off the ack path: a catalog that is away delays the pruning, and nothing else.
"""

import threading
import time

import structlog

from collector import metrics
from collector.settings import Settings
from collector.spool import Spool

INTERVAL_SECONDS = 30.0
_log = structlog.get_logger()


def start(spool: Spool, settings: Settings) -> None:
    """Ask for the cursors every 30 s, in a thread that ends with the process."""
    threading.Thread(target=_run, args=(spool, settings), daemon=True, name="prune").start()


def _run(spool: Spool, settings: Settings) -> None:
    # SQLAlchemy takes a third of a second to import, which the first event must not wait for.
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415

    from collector.cursors import read_cursors  # noqa: PLC0415

    while True:
        time.sleep(INTERVAL_SECONDS)
        try:
            cursors = read_cursors(settings.place)
        except SQLAlchemyError as error:
            metrics.PRUNE_FAILURES.inc()
            _log.warning("cursors_unreadable", error=str(error)[:200])
            continue
        if cursors is not None:
            spool.passed.through(cursors.lowest, cursors.needed)
