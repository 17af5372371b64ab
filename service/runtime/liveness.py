"""Decides when a role that runs, and no longer answers, is started again.

Checks are counted, not seconds: a supervisor that stood still itself, as on a suspended machine,
has missed one check, however long that took.
"""

from typing import Final

CHECK_SECONDS: Final = 5.0
# A first start on a starved machine: the service took 85 s to listen at a load of 50.
_START_FACTOR = 5
# A role that was too slow, and not hung, gets twice the time after each restart.
_LONGEST_FACTOR = 8
_HEALTHY_CHECKS = 120  # ten minutes


class Liveness:
    """Counts the checks in a row that a role did not answer."""

    def __init__(self, hang_seconds: float) -> None:
        self._allowed = max(2, round(hang_seconds / CHECK_SECONDS))
        self._factor = 1
        self._misses = 0
        self._answers = 0
        self._has_answered = False

    def started(self) -> None:
        """Record a new process of the role, which may need longer until it answers."""
        self._misses = self._answers = 0
        self._has_answered = False

    def checked(self, *, answered: bool) -> None:
        """Count one more check."""
        if not answered:
            self._misses, self._answers = self._misses + 1, 0
            return
        self._has_answered = True
        self._misses, self._answers = 0, self._answers + 1
        if self._answers >= _HEALTHY_CHECKS:
            self._factor = 1

    @property
    def allowed(self) -> int:
        """Return how many checks in a row may be missed."""
        return self._allowed * self._factor * (1 if self._has_answered else _START_FACTOR)

    @property
    def silent_seconds(self) -> float:
        """Return how long the role has not answered."""
        return self._misses * CHECK_SECONDS

    def is_hung(self) -> bool:
        """Return whether the role must be restarted."""
        return self._misses >= self.allowed

    def given_up(self) -> None:
        """Record that the role was restarted for missed checks."""
        self._factor = min(_LONGEST_FACTOR, 2 * self._factor)
        self.started()
