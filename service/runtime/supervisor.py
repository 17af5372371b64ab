"""Supervisor of the roles on one machine: starts them, restarts dead ones, stops all cleanly.

It holds no data and does nothing else, so that the roles may be killed in any way without loss, and
so may it: its children die with it.
"""

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from service.runtime.child import Child, RoleCommand
from service.runtime.data_folder import UP_LOCK, hold_folder
from service.runtime.run_folder import StatusFile, take_restart_requests
from service.runtime.supervised_role import Watched

_POLL_SECONDS = 0.1
_TRIM_SECONDS = 5.0
_ACCEPTING_SECONDS = 10.0

Say = Callable[[str], None]


class Supervisor:
    """Roles of one data folder. The first accepts before the next is started; it stops last."""

    def __init__(
        self, commands: Sequence[RoleCommand], data_dir: Path, environ: Mapping[str, str], say: Say
    ) -> None:
        self._roles = [Watched(command, data_dir, environ) for command in commands]
        self._data_dir = data_dir
        self._print = say
        self._stop = threading.Event()
        self._signals = 0
        self._status = StatusFile(data_dir)
        self._next_trim = 0.0

    def run(
        self, *, on_accepting: Callable[[], None], before: Callable[[], None] = lambda: None
    ) -> None:
        """Keep every role running until SIGINT or SIGTERM; then stop all roles.

        Args:
            on_accepting: called once, when the first role accepts connections.
            before: called once the data folder is locked, before any role starts.

        Raises:
            OccupiedError: the data folder belongs to another supervisor.
        """
        with hold_folder(self._data_dir / UP_LOCK), self._handling_signals():
            list(take_restart_requests(self._data_dir))  # asked of one that is gone
            try:
                before()
                self._start(on_accepting)
                while not self._stop.wait(_POLL_SECONDS):
                    self._look_after()
            finally:
                self._stop_all()

    def _start(self, on_accepting: Callable[[], None]) -> None:
        first, *others = self._roles
        first.start()
        self._write_status()
        self._await_accepting(first)
        if self._stop.is_set():
            return
        with suppress(OSError):
            on_accepting()
        for role in others:
            role.start()
        self._write_status()

    def _await_accepting(self, first: Watched) -> None:
        """Hold the others back: three starting at once would hold the first from its port."""
        deadline = time.monotonic() + _ACCEPTING_SECONDS
        address = first.child.command.address
        while time.monotonic() < deadline and not self._stop.is_set():
            self._look_after_one(first)
            if address is None or _accepts(address):
                return
            self._stop.wait(0.02)

    def _look_after(self) -> None:
        self._heed(take_restart_requests(self._data_dir))
        for role in self._roles:
            self._look_after_one(role)
        if time.monotonic() >= self._next_trim:
            self._next_trim = time.monotonic() + _TRIM_SECONDS
            for role in self._roles:
                role.child.log.trim()
        self._write_status()

    def _heed(self, asked: Iterable[str]) -> None:
        """Restart the roles that somebody asked for."""
        for name in asked:
            for role in self._roles:
                if role.name == name:
                    self._say(f"a restart of {name} was requested")
                    role.child.ask_for_restart()

    def _look_after_one(self, role: Watched) -> None:
        if (hung := role.look()) is not None:
            self._say(f"{hung}, see logs/{role.name}.log")
        if (how := role.exited()) is not None:
            self._say(
                f"{role.name} ended ({how}); it starts again in"
                f" {role.child.delay_seconds:.1f} s, see logs/{role.name}.log"
            )
        if not self._stop.is_set():
            role.restart()

    def _stop_all(self) -> None:
        first, *others = self._roles
        self._stop_these([role.child for role in others])
        self._stop_these([first.child])
        self._write_status()

    def _stop_these(self, children: Sequence[Child]) -> None:
        for child in children:
            child.ask_to_stop()
        asked = time.monotonic()
        for child in children:
            # In short waits, so that a second Ctrl-C takes effect.
            while child.is_running() and time.monotonic() < asked + self._patience(child):
                time.sleep(_POLL_SECONDS / 5)
            if not child.end():
                self._say(f"{child.command.role} did not stop in time and was killed")

    def _patience(self, child: Child) -> float:
        return child.command.stop_seconds if self._signals <= 1 else 0.0

    @contextmanager
    def _handling_signals(self) -> Iterator[None]:
        kept = {n: signal.signal(n, self._on_signal) for n in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in kept.items():
                signal.signal(number, handler)

    def _on_signal(self, _number: int, _frame: object) -> None:
        self._signals += 1
        self._stop.set()

    def _say(self, text: str) -> None:
        """Print it; a terminal that is gone, or a full disk behind it, ends no role."""
        with suppress(OSError):
            self._print(text)

    def _write_status(self) -> None:
        self._status.write([role.shown() for role in self._roles])


def _accepts(address: tuple[str, int]) -> bool:
    try:
        with socket.create_connection(address, timeout=0.5):
            return True
    except OSError:
        return False
