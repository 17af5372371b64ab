"""Wait for what other processes do: a condition, a deadline, and a word of how it goes."""

import time
from collections.abc import Callable
from typing import TypeVar

from lineage.errors import RequestError

_POLL_SECONDS = 0.1
# What has died says so at once, through a watcher: this is for a wait on a slow laptop.
_LONGEST_SECONDS = 600.0
_Found = TypeVar("_Found")


class StepFailedError(RequestError):
    """Error: a step of the demo did not finish; the text says which and where to look."""


class Patience:
    """Waiting with something to do at each look: feed a stream, show the time, see who died.

    Attributes:
        watchers: called at each look; what they raise ends the waiting.
    """

    def __init__(self) -> None:
        self.watchers: list[Callable[[], object]] = []

    def until(
        self, condition: Callable[[], _Found], *, what: str, seconds: float = _LONGEST_SECONDS
    ) -> _Found:
        """Return the condition's value as soon as it has one.

        Raises:
            StepFailedError: nothing before the deadline.
        """
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            if time.monotonic() > deadline:
                raise StepFailedError(f"{what}: not within {seconds:.0f} s")
            self.look()
        return found

    def for_ever(self) -> None:
        """Wait until a watcher raises, or Ctrl-C."""
        while True:
            self.look()

    def look(self) -> None:
        """Run one round of checks."""
        for watcher in self.watchers:
            watcher()
        time.sleep(_POLL_SECONDS)
