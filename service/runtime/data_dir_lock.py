"""Lock of a data folder: the kernel drops it when its holder ends, however that happens."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from service.errors import OccupiedError

UP_LOCK: Final = Path("run") / "up.lock"


@contextmanager
def hold(lock: Path, taken: str = "") -> Iterator[None]:
    """Hold a folder for as long as this lasts: the data folder, unless `taken` names another.

    Raises:
        OccupiedError: another process holds it.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("a+") as file:
        if not _taken(file.fileno()):
            raise OccupiedError(taken or _already_runs(lock))
        _note_pid(file)
        yield


def require_not_running(data_dir: Path) -> None:
    """See that no `lineward up` holds this data folder.

    Raises:
        OccupiedError: one does.
    """
    lock = data_dir / UP_LOCK
    if is_held(lock):
        raise OccupiedError(_already_runs(lock))


def _already_runs(lock: Path) -> str:
    pid = lock.read_text(encoding="ascii", errors="replace").strip()
    by = f" (pid {pid})" if pid.isdigit() else ""
    folder = lock.parent.parent
    return f"`lineward up` already runs on {folder}{by}: stop it, or use another --data-dir"


def _note_pid(file: IO[str]) -> None:
    """Write the process id for the error message of a second supervisor, if the disk has room."""
    # Without a buffer, which would be written again, and fail, when the file is closed.
    with suppress(OSError):
        file.truncate(0)
        os.write(file.fileno(), str(os.getpid()).encode())


def is_held(lock: Path) -> bool:
    """Return whether a process holds the lock."""
    if not lock.is_file():
        return False
    with lock.open("rb") as file:
        return not _taken(file.fileno())


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
