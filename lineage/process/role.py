"""Start of a process that runs a role, and its stop by a signal."""

import os
import signal
from threading import Event

from lineage.process.health import HEALTH
from lineage.process.logs import log_to_stderr


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
