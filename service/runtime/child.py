"""Role as a child process: started, watched, started again, stopped with all it started."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from lineage.process.health import VARIABLE, Heartbeat
from lineage.process.role import end_with_parent
from service.runtime.role_log import RoleLog

_MOST_REPORT_BYTES = 65_536

_FIRST_DELAY_SECONDS = 0.5
_LONGEST_DELAY_SECONDS = 30.0
_SETTLED_SECONDS = 60.0  # a role that ran this long starts its next delays from the first again
_AUTOGROUP = Path("/proc/self/autogroup")


class Reports:
    """Pair of sockets; the role's end is inherited by each of its processes in turn."""

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._ours.settimeout(0)
        self.newest = Heartbeat()

    @property
    def descriptor(self) -> int:
        """Number of the role's end."""
        return self._theirs.fileno()

    @property
    def environment(self) -> dict[str, str]:
        """Return the variable by which the role finds it."""
        return {VARIABLE: str(self.descriptor)}

    def take(self) -> bool:
        """Read what has come; return whether anything has."""
        came = False
        while (datagram := self._next()) is not None:
            came = True
            self.newest = msgspec.json.decode(datagram, type=Heartbeat)
        return came

    def clear(self) -> None:
        """Forget what a process that is gone has sent."""
        self.take()
        self.newest = Heartbeat()

    def _next(self) -> bytes | None:
        try:
            return self._ours.recv(_MOST_REPORT_BYTES)
        except BlockingIOError:
            return None


class RoleCommand(msgspec.Struct, frozen=True, kw_only=True):
    """Command and environment of a role.

    Attributes:
        role: its name, and its log's.
        argv: the command.
        address: host and port that it accepts on, for the role that the others wait for.
        stop_seconds: how long it may take to finish what is in flight.
        death_signal: what the kernel sends it when the supervisor dies.
        nice: how far it gives way to others where all want to compute, 0 to 19.
        livez: host and port where it answers `/livez`; None where it has no port.
        beats: whether it reports its health by itself (`lineage.process.health`).
        hang_seconds: how long it may leave the supervisor without an answer.
        needs_disk: whether it is not started while its disk is full.
    """

    role: str
    argv: tuple[str, ...]
    address: tuple[str, int] | None = None
    stop_seconds: float = 10.0
    death_signal: signal.Signals = signal.SIGKILL
    nice: int = 0
    livez: tuple[str, int] | None = None
    beats: bool = False
    hang_seconds: float = 60.0
    needs_disk: bool = False


class Child:
    """Process of a role, and when it may be started again."""

    def __init__(self, command: RoleCommand, environ: Mapping[str, str], log: Path) -> None:
        self.command = command
        self.restarts = 0
        self.was_asked = False  # to end
        self.log = RoleLog(log)
        self.reports = Reports()
        self._environ = {**environ, **self.reports.environment}
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._quick_deaths = 0
        self._start_at = 0.0
        self._kill_at: float | None = None

    @property
    def pid(self) -> int | None:
        """Process id; none while it does not run."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start it, in a session of its own: a Ctrl-C is for the supervisor alone."""
        self.reports.clear()
        self.was_asked = False
        with self.log.open() as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own modules
                self.command.argv,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=[self.reports.descriptor],
                # The only way to a signal at the supervisor's death; it has one thread.
                preexec_fn=_prepared(os.getpid(), self.command),  # noqa: PLW1509
            )
        self._started = time.monotonic()

    def exited(self) -> int | None:
        """Return the exit code once the process has died, and kill its children; else None."""
        if self._process is None or (code := self._process.poll()) is None:
            return None
        _kill_group(self._process.pid)
        self._process = None
        self._kill_at = None
        self._schedule()
        return code

    def ask_for_restart(self) -> None:
        """Have it end as when all is stopped; dead, it is started again as always."""
        self.was_asked = True
        self.ask_to_stop()
        self._kill_at = time.monotonic() + self.command.stop_seconds

    def kill_if_overdue(self) -> None:
        """Kill it where it was to be restarted, and does not end in its time."""
        if self._process and self._kill_at is not None and time.monotonic() >= self._kill_at:
            self._kill_at = None
            _kill_group(self._process.pid)

    @property
    def delay_seconds(self) -> float:
        """Return the seconds until it is started again."""
        return max(0.0, self._start_at - time.monotonic())

    def is_due(self) -> bool:
        """Return whether the process has died and its restart delay is over."""
        return self._process is None and self.delay_seconds == 0

    def restart(self) -> None:
        """Start it again."""
        self.restarts += 1
        self.start()

    def ask_to_stop(self) -> None:
        """SIGTERM: finish what is in flight."""
        if self._process and self._process.poll() is None:
            self._process.terminate()

    def is_running(self) -> bool:
        """Return whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def end(self) -> bool:
        """Kill what is left of it and of what it started; return whether it had ended."""
        if self._process is None:
            return True
        ended = self._process.poll() is not None
        _kill_group(self._process.pid)
        self._process.wait()
        self._process = None
        return ended

    def _schedule(self) -> None:
        ran_seconds = time.monotonic() - self._started
        self._quick_deaths = 0 if ran_seconds >= _SETTLED_SECONDS else self._quick_deaths + 1
        # After a long run the first restart is at once: senders and scrapes wait.
        delay = _FIRST_DELAY_SECONDS * 2 ** (self._quick_deaths - 1) if self._quick_deaths else 0.0
        self._start_at = time.monotonic() + min(_LONGEST_DELAY_SECONDS, delay)


def _prepared(supervisor: int, command: RoleCommand) -> Callable[[], None]:
    def prepare() -> None:
        end_with_parent(command.death_signal)
        if os.getppid() != supervisor:
            os._exit(1)  # it died before the kernel had been asked
        if command.nice:
            _give_way(command.nice)

    return prepare


def _give_way(nice: int) -> None:
    """Lower the priority of this process and of its session, by which Linux may schedule it."""
    os.nice(nice)
    with suppress(OSError):  # a kernel without them
        _AUTOGROUP.write_text(str(nice))


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # nobody is left in it
