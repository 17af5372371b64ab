"""Waits for other processes: a condition and a deadline, never a fixed sleep."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

# Tests show nothing by speed: the machine may be busy with three Sparks.
PATIENCE_SECONDS: Final = 600.0
_SHARE = 3  # seconds of sleep per second of checks
_Found = TypeVar("_Found")


def until(
    condition: Callable[[], _Found | None],
    *,
    seconds: float = PATIENCE_SECONDS,
    pause: float = 0.02,
    describe: Callable[[], object] = lambda: "",
) -> _Found:
    """Return the first true result of the condition; fail at the deadline.

    The message of the failure ends with the result of `describe`. Check the condition every `pause`
    seconds, and for at most a quarter of the time: a command that is run in a loop takes a core
    from the process that the test waits for.
    """
    deadline = time.monotonic() + seconds
    while (checked_at := time.monotonic()) < deadline:
        found = condition()
        if found:
            return found
        time.sleep(max(pause, _SHARE * (time.monotonic() - checked_at)))
    message = f"not within {seconds} s: {condition} {describe()}"
    raise AssertionError(message)


def is_running(pid: int) -> bool:
    """Return whether the process runs; a zombie does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
