"""Waits for what other processes do: a condition and a deadline, never a fixed sleep."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

# Nothing is shown by how fast it comes: a machine may be busy with three Sparks.
PATIENCE_SECONDS: Final = 600.0
_Found = TypeVar("_Found")


def until(
    condition: Callable[[], _Found | None],
    *,
    seconds: float = PATIENCE_SECONDS,
    pause: float = 0.02,
    told: Callable[[], object] = lambda: "",
) -> _Found:
    """What the condition gives as soon as it gives anything; fails at the deadline, as is told.

    A condition that costs much of what it waits for is asked with a longer `pause`, in seconds.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(pause)
    message = f"not within {seconds} s: {condition} {told()}"
    raise AssertionError(message)


def lives(pid: int) -> bool:
    """Whether this process runs; a zombie does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
