"""Process of a role: its start, its wait for a catalog, its stop by a signal or with its parent."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from threading import Event

import structlog

from lineage.catalog.trouble import CatalogError
from lineage.process.health import HEALTH
from lineage.process.logs import log_to_stderr

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)

_CATALOG = "catalog"
_EVERY_SECONDS = 2.0
log = structlog.get_logger(__name__)


def begin_role() -> None:
    """Keep new files from other users, log to standard error, and report to the supervisor."""
    os.umask(0o077)
    log_to_stderr()
    HEALTH.connect()


def stop_on_signals() -> Event:
    """Return an event that SIGINT and SIGTERM set."""
    stopping = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    return stopping


def end_with_parent(death_signal: signal.Signals) -> None:
    """Have the kernel send this process a signal when its parent dies (Linux; elsewhere nothing).

    A parent that is dead already is not noticed: compare `os.getppid()` afterwards.
    """
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_PDEATHSIG, death_signal)


def await_catalog(ready: Callable[[], object], stopped: Event) -> bool:
    """Try until `ready` raises no CatalogError; return whether that was before `stopped` was set.

    What is wrong is reported and logged. It ends without a restart: someone restores a file, or
    starts the server or the right release.
    """
    while not stopped.is_set():
        try:
            ready()
        except CatalogError as error:
            HEALTH.fail(_CATALOG, str(error))
            log.error("catalog_not_ready", error=str(error))  # noqa: TRY400 - the message says all
            stopped.wait(_EVERY_SECONDS)
        else:
            HEALTH.succeed(_CATALOG)
            return True
    return False
