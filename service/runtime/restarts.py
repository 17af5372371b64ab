"""Requests to a supervisor for restarts: a file named after the role, which it deletes."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PREFIX = "restart-"


def ask(data_dir: Path, role: str) -> None:
    """Request a restart; several requests before the supervisor looks are one."""
    (data_dir / "run" / f"{_PREFIX}{role}").touch()


def take(data_dir: Path) -> Iterator[str]:
    """Return the roles whose restart was requested since the last call."""
    for path in (data_dir / "run").glob(f"{_PREFIX}*"):
        with suppress(OSError):  # on a read-only disk it stays, and is taken again
            path.unlink(missing_ok=True)
            yield path.name.removeprefix(_PREFIX)
