"""Takes the collector out of work for a while, as a machine that stands still would."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def outage(parent: int) -> Iterator[None]:
    """Stop the collector of this parent process for as long as this context lasts.

    The parent is stopped, so that it starts no new worker, and the worker is killed with -9:
    nothing is taken and no heartbeat written. Senders wait in the listening socket's backlog
    meanwhile, as before a machine that stands still.
    """
    os.kill(parent, signal.SIGSTOP)
    try:
        for worker in _children(parent):
            os.kill(worker, signal.SIGKILL)
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(parent, signal.SIGCONT)


def _children(parent: int) -> list[int]:
    listed = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii")
    return [int(pid) for pid in listed.split()]
