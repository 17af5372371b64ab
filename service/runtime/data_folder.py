"""Data folder: its lock, which the kernel drops when the holder ends, and its permissions.

The folder has all events, SQL texts and audit rows: only its owner may enter it.
"""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from service.errors import OccupiedError

UP_LOCK: Final = Path("run") / "up.lock"

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@contextmanager
def hold_folder(lock: Path, taken: str = "") -> Iterator[None]:
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


def open_to_others(data_dir: Path) -> str | None:
    """Return a sentence where other users may enter the data folder; None where they may not."""
    try:
        mode = stat.S_IMODE(data_dir.stat().st_mode)
    except FileNotFoundError:
        return None
    if not mode & _OTHERS:
        return None
    return f"other users may read {data_dir} (mode {mode:04o}): run chmod 700 {data_dir}"


def restrict_permissions(data_dir: Path) -> Iterator[str]:
    """Take other users' permissions away from what is ours in the folder; what was found."""
    warning = open_to_others(data_dir)
    if warning is None:
        return
    if data_dir.stat().st_uid != os.getuid():
        yield warning
        return
    mode = stat.S_IMODE(data_dir.stat().st_mode)
    for path in (data_dir, *data_dir.iterdir(), *data_dir.glob("logs/*"), *data_dir.glob("run/*")):
        _tighten_one(path)
    yield f"other users could read {data_dir} (mode {mode:04o}): now only its owner can"


def _tighten_one(path: Path) -> None:
    found = path.lstat()
    if found.st_uid == os.getuid() and not stat.S_ISLNK(found.st_mode):
        path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)
