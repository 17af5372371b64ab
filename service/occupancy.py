"""Who holds a data folder: a lock that the kernel drops with its holder, however that one ends."""

import fcntl
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from service.errors import OccupiedError


@contextmanager
def holding(lock: Path, taken: str = "") -> Iterator[None]:
    """Hold a folder for as long as this lasts: the data folder, unless `taken` names another.

    Raises:
        OccupiedError: another process holds it.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as file:
        if not _taken(file.fileno()):
            folder = lock.parent.parent
            message = (
                f"`lineward up` already runs on {folder}: stop that one, or give --data-dir another"
            )
            raise OccupiedError(taken or message)
        yield


def is_held(lock: Path) -> bool:
    """Whether some process holds it now."""
    if not lock.is_file():
        return False
    with lock.open("a") as file:
        return not _taken(file.fileno())


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def require_free(host: str, port: int, variable: str) -> None:
    """See that a role will be able to listen there.

    Raises:
        OccupiedError: it would not.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            reason = error.strerror or str(error)
            message = f"cannot listen on {host}:{port} ({reason}): set {variable} to a free port"
            raise OccupiedError(message) from error
