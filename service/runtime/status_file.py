"""`run/status.json`: the roles as the supervisor sees them, for `lineward status` and the service.

It is written every few seconds: a reader takes an old one for what it is, no word of now.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from service.queries.roles import RoleStatus

STATUS: Final = Path("run") / "status.json"
_EVERY_SECONDS = 5.0
_RETRY_SECONDS = 1.0


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
