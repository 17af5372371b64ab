"""Log file of a role: appended to by the role, kept within bounds by the supervisor."""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

from lineage.process.health import one_line

_MAX_BYTES = 33_554_432
_TAIL_BYTES = 16_384


class RoleLog:
    """File, and one older part of it (`.log.1`)."""

    def __init__(self, path: Path, *, max_bytes: int = _MAX_BYTES) -> None:
        self.path = path
        self._max_bytes = max_bytes

    def open(self) -> IO[bytes]:
        """Open it for a role to append to; without a place on the disk, what the role says is lost.

        The role's own work does not need its log.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return self.path.open("ab")
        except OSError:
            return Path(os.devnull).open("ab")

    def trim(self) -> None:
        """Move what has grown too large aside, while the role goes on appending.

        The role keeps its descriptor: the file is copied and emptied, as logrotate's `copytruncate`
        does. Lines that are written in between are lost.
        """
        with suppress(FileNotFoundError):
            size = self.path.stat().st_size
            # Twice as large, the bound counts for more than what the disk has no room to copy.
            if size > self._max_bytes and (self._copied() or size > 2 * self._max_bytes):
                os.truncate(self.path, 0)

    def _copied(self) -> bool:
        older = self.path.with_suffix(".log.1")
        try:
            shutil.copyfile(self.path, older)
        except OSError:
            with suppress(OSError):
                older.unlink(missing_ok=True)
            return False
        return True

    def last_error(self) -> str | None:
        """Return the last line of the role's log, shortened; None without a log or lines."""
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, self.path.stat().st_size - _TAIL_BYTES))
                lines = file.read().decode(errors="replace").splitlines()
        except OSError:
            return None
        texts = [line for line in lines if line.strip()]
        return one_line(_readable(texts[-1])) if texts else None


def _readable(line: str) -> str:
    """Return the event and the error of a JSON line; other lines stay unchanged."""
    try:
        event = msgspec.json.decode(line, type=dict[str, object])
    except msgspec.MsgspecError:
        return line
    error = event.get("error") or event.get("reason")
    return f"{event.get('event')}: {error}" if error else str(event.get("event", line))
