"""Waits for what other processes do: a condition and a deadline, never a fixed sleep."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

# Nothing is shown by how fast it comes: a machine may be busy with three Sparks.
PATIENCE_SECONDS: Final = 600.0
_SHARE = 3  # of waiting to asking
_Found = TypeVar("_Found")


def until(
    condition: Callable[[], _Found | None],
    *,
    seconds: float = PATIENCE_SECONDS,
    pause: float = 0.02,
    told: Callable[[], object] = lambda: "",
) -> _Found:
    """What the condition gives as soon as it gives anything; fails at the deadline, as is told.

    Ask every `pause` seconds, and for at most a quarter of the time: a command that asks in a loop
    takes a core from the process that the test waits for.
    """
    deadline = time.monotonic() + seconds
    while (asked_at := time.monotonic()) < deadline:
        found = condition()
        if found:
            return found
        time.sleep(max(pause, _SHARE * (time.monotonic() - asked_at)))
    message = f"not within {seconds} s: {condition} {told()}"
    raise AssertionError(message)


def lives(pid: int) -> bool:
    """Whether this process runs; a zombie does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
