"""Role under the supervisor: its process, its health, and whether it still answers.

Checks are counted, not seconds: a supervisor that stood still itself, as on a suspended machine,
has missed one check, however long that took.
"""

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from lineage.process.disk import disk_problem
from lineage.process.sockets import Livez
from service.queries.roles import RoleStatus
from service.runtime.child import Child, RoleCommand
from service.runtime.role_state import RoleState

CHECK_SECONDS: Final = 5.0
# A first start on a starved machine: the service took 85 s to listen at a load of 50.
_START_FACTOR = 5
# A role that was too slow, and not hung, gets twice the time after each restart.
_LONGEST_FACTOR = 8
_HEALTHY_CHECKS = 120  # ten minutes

_DISK_SECONDS = 1.0


class Liveness:
    """Count of the checks in a row that a role did not answer."""

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


class Watched:
    """Process of a role, with its state."""

    def __init__(self, command: RoleCommand, data_dir: Path, environ: Mapping[str, str]) -> None:
        self.child = Child(command, environ, data_dir / "logs" / f"{command.role}.log")
        self.state = RoleState(command.role)
        self._disks = (data_dir, Path(tempfile.gettempdir()))
        self._liveness = Liveness(command.hang_seconds)
        self._livez = Livez(*command.livez) if command.livez else None
        self._reported = False
        self._check_at = 0.0
        self._disk_at = 0.0
        self._hang: str | None = None

    @property
    def name(self) -> str:
        """Return the name of the role."""
        return self.child.command.role

    def start(self) -> None:
        """Start its first process, unless its disk has no room for its work."""
        if self._has_disk():
            self.child.start()
            self._started()

    def restart(self) -> bool:
        """Start it again if it is due and its disk has room; return whether it did."""
        if not self.child.is_due() or not self._has_disk():
            return False
        self.child.restart()
        self._started()
        return True

    def exited(self) -> str | None:
        """Return how the process ended, once after its end; else None."""
        code = self.child.exited()
        if code is None:
            return None
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        if not self.child.was_asked or self._hang:
            self.state.died(self._hang or self.child.log.last_error() or how)
        self._hang = None
        return how

    def look(self) -> str | None:
        """Take its reports and check that it answers; a sentence when it is restarted for that."""
        self._reported |= self.child.reports.take()
        self.state.reported(self.child.reports.newest)
        self.state.look()
        self.child.kill_if_overdue()
        if not self.child.is_running() or self.child.was_asked or time.monotonic() < self._check_at:
            return None
        return self._check()

    def shown(self) -> RoleStatus:
        """Return the role as `lineward status` lists it."""
        child = self.child
        is_running, pid = child.is_running(), child.pid
        return self.state.shown(is_running=is_running, pid=pid, restarts=child.restarts)

    def _check(self) -> str | None:
        answered = self._answered()
        self._begin_check()
        if answered is not None:
            self._liveness.checked(answered=answered)
        if not self._liveness.is_hung():
            return None
        self._hang = f"did not answer for {self._liveness.silent_seconds:.0f} s"
        self._liveness.given_up()
        self.child.ask_for_restart()
        return f"{self.name} {self._hang} and is restarted"

    def _answered(self) -> bool | None:
        """Return whether the role passed all of its liveness checks; None if it has none."""
        signs = []
        if self._livez is not None:
            signs.append(self._livez.has_answered())
        if self.child.command.beats:
            signs.append(self._reported)
        return all(signs) if signs else None

    def _begin_check(self) -> None:
        self._reported = False
        self._check_at = time.monotonic() + CHECK_SECONDS
        if self._livez is not None:
            self._livez.ask()

    def _started(self) -> None:
        self._liveness.started()
        self._begin_check()

    def _has_disk(self) -> bool:
        if not self.child.command.needs_disk:
            return True
        if time.monotonic() >= self._disk_at:
            self._disk_at = time.monotonic() + _DISK_SECONDS
            self.state.waits_for = disk_problem(*self._disks)
        return self.state.waits_for is None
