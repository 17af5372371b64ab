"""State of a role: whether it works, since when it does not, and why."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from lineage.process.clock import Clock, system_clock, to_micros
from lineage.process.health import Heartbeat, PartFailure, one_line
from service.queries.roles import RoleStatus
from service.queries.timestamps import iso

# Longer than a pipeline needs to start, take the same events again and fail again.
FORGET_SECONDS: Final = 600.0
# One death without a word is an accident that is over when the role runs again.
_FAILING_DEATHS = 2


class RoleState:
    """Deaths of a role's processes, and what a process that runs reports to fail."""

    def __init__(
        self,
        role: str,
        clock: Clock = system_clock,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._role = role
        self._clock, self._monotonic = clock, monotonic
        self._died_at = 0.0
        self._deaths = 0
        self._attempts = 0
        self._since: int | None = None
        self._fatal_part: str | None = None  # that the role reported to fail before it died
        self._error: str | None = None
        self._failures: Sequence[PartFailure] = ()
        self.waits_for: str | None = None

    def reported(self, report: Heartbeat) -> None:
        """Take what the role says of itself; what ended an earlier process may work now."""
        self._failures = report.failures
        if self._fatal_part in report.worked:
            self._forget()

    def died(self, error: str) -> None:
        """Record the unexpected exit of a process of the role."""
        first = self._first()
        self._since = self.failing_since or self._since or to_micros(self._clock())
        self._died_at = self._monotonic()
        self._deaths += 1
        self._attempts += max(1, first.attempts if first else 0)
        self._error = one_line(f"{first.part}: {first.error}" if first else error)
        self._fatal_part = first.part if first else self._fatal_part
        self._failures = ()

    def look(self) -> None:
        """Forget deaths that are long over."""
        if self._deaths and self._monotonic() - self._died_at >= FORGET_SECONDS:
            self._forget()

    def _forget(self) -> None:
        self._since, self._deaths, self._attempts, self._error = None, 0, 0, None
        self._fatal_part = None

    @property
    def failing_since(self) -> int | None:
        """Timestamp of the first failure, µs; None while the role works."""
        known = [each.since for each in self._failures]
        is_failing = known or self._fatal_part or self._deaths >= _FAILING_DEATHS
        if self._since is not None and is_failing:
            known.append(self._since)
        return min(known, default=None)

    def shown(self, *, is_running: bool, pid: int | None, restarts: int) -> RoleStatus:
        """Return the role as `lineward status` lists it."""
        first = self._first()
        error = f"{first.part}: {first.error}" if first else self._error
        return RoleStatus(
            role=self._role,
            state=self._word(is_running=is_running),
            pid=pid,
            restarts=restarts,
            failing_since=iso(self.failing_since),
            attempts=self._attempts + (first.attempts if first else 0),
            error=self.waits_for or error,
        )

    def _first(self) -> PartFailure | None:
        """Return the earliest failure: later ones often follow from it."""
        return min(self._failures, key=lambda each: each.since, default=None)

    def _word(self, *, is_running: bool) -> str:
        if self.waits_for:
            return "waiting"
        if not is_running:
            return "restarting"
        return "running" if self.failing_since is None else "failing"
