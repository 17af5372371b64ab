"""Files in `run/` by which the supervisor and other processes communicate.

`status.json` has the roles as the supervisor sees them. It is written every few seconds, so that a
reader can see how old it is. `restart-ROLE` requests a restart; the supervisor deletes it.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from service.queries.roles import RoleStatus

STATUS: Final = Path("run") / "status.json"
_EVERY_SECONDS = 5.0
_RETRY_SECONDS = 1.0

_RESTART_PREFIX = "restart-"


class StatusFile:
    """Status file of one data folder; a failed write is repeated, and is no error."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / STATUS
        self._written: list[RoleStatus] | None = None
        self._due = 0.0

    def write(self, roles: Sequence[RoleStatus]) -> None:
        """Write what has changed at once, and what has not every few seconds."""
        has_changed, now = list(roles) != self._written, time.monotonic()
        if now < self._due and (not has_changed or self._written is None):
            return
        try:
            self._replace(msgspec.json.encode(roles))
        except OSError:
            self._written, self._due = None, now + _RETRY_SECONDS
        else:
            self._written, self._due = list(roles), now + _EVERY_SECONDS

    def _replace(self, content: bytes) -> None:
        scratch = self._path.with_suffix(".new")
        try:
            scratch.write_bytes(content)
            scratch.replace(self._path)
        except OSError:
            with suppress(OSError):
                scratch.unlink(missing_ok=True)
            raise


def running_pids(data_dir: Path) -> dict[str, int]:
    """Return the process id of each role that runs, by the status file."""
    roles = msgspec.json.decode((data_dir / STATUS).read_bytes(), type=list[RoleStatus])
    return {one.role: one.pid for one in roles if one.pid is not None}


def request_restart(data_dir: Path, role: str) -> None:
    """Request a restart; several requests before the supervisor looks are one."""
    (data_dir / "run" / f"{_RESTART_PREFIX}{role}").touch()


def take_restart_requests(data_dir: Path) -> Iterator[str]:
    """Return the roles whose restart was requested since the last call."""
    for path in (data_dir / "run").glob(f"{_RESTART_PREFIX}*"):
        with suppress(OSError):  # on a read-only disk it stays, and is taken again
            path.unlink(missing_ok=True)
            yield path.name.removeprefix(_RESTART_PREFIX)
