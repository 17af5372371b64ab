"""Permissions of the data folder, which has all events, SQL texts and audit rows."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


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
