"""Runs the roles on one machine: starts them, starts again what dies, stops all of it cleanly.

It holds no data and does nothing else, so that the roles may be killed in any way without loss, and
so may it: its children die with it.
"""

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from service.answers.status import Role
from service.child import Child, RoleCommand
from service.occupancy import holding
from service.restarts import take

LOCK = Path("run") / "up.lock"
STATUS = Path("run") / "status.json"
_POLL_SECONDS = 0.1
_ACCEPTING_SECONDS = 10.0

Say = Callable[[str], None]


class Supervisor:
    """The roles of one data folder. The first accepts before the next is started; it stops last."""

    def __init__(
        self, commands: Sequence[RoleCommand], data_dir: Path, environ: Mapping[str, str], say: Say
    ) -> None:
        logs = data_dir / "logs"
        self._children = [Child(c, environ, logs / f"{c.role}.log") for c in commands]
        self._data_dir = data_dir
        self._say = say
        self._stop = threading.Event()
        self._signals = 0

    def run(self, *, on_accepting: Callable[[], None]) -> None:
        """Until SIGINT or SIGTERM, keep every role alive; then stop them all.

        Args:
            on_accepting: called once, when the first role accepts connections.

        Raises:
            OccupiedError: the data folder belongs to another supervisor.
        """
        with holding(self._data_dir / LOCK), self._handling_signals():
            list(take(self._data_dir))  # asked of one that is gone
            try:
                self._start(on_accepting)
                while not self._stop.wait(_POLL_SECONDS):
                    self._look_after()
            finally:
                self._stop_all()

    def _start(self, on_accepting: Callable[[], None]) -> None:
        first, *others = self._children
        first.start()
        self._write_status()
        self._await_accepting(first)
        if self._stop.is_set():
            return
        on_accepting()
        for child in others:
            child.start()
        self._write_status()

    def _await_accepting(self, child: Child) -> None:
        """Hold the others back: three starting at once would hold the first from its port."""
        deadline = time.monotonic() + _ACCEPTING_SECONDS
        while time.monotonic() < deadline and not self._stop.is_set():
            self._look_after_one(child)
            if child.command.address is None or _accepts(child.command.address):
                return
            self._stop.wait(0.02)

    def _look_after(self) -> None:
        self._heed(take(self._data_dir))
        for child in self._children:
            child.kill_if_overdue()
            self._look_after_one(child)

    def _heed(self, asked: Iterable[str]) -> None:
        """Restart the roles that somebody asked for."""
        for role in asked:
            for child in self._children:
                if child.command.role == role:
                    self._say(f"a restart of {role} was asked for")
                    child.ask_for_restart()

    def _look_after_one(self, child: Child) -> None:
        code = child.exited()
        if code is not None:
            self._say(
                f"{child.command.role} died ({_how(code)}); it starts again in"
                f" {child.delay_seconds:.1f} s, see logs/{child.command.role}.log"
            )
            self._write_status()
        if child.is_due() and not self._stop.is_set():
            child.restart()
            self._write_status()

    def _stop_all(self) -> None:
        first, *others = self._children
        self._stop_these(others)
        self._stop_these([first])
        self._write_status()

    def _stop_these(self, children: Sequence[Child]) -> None:
        for child in children:
            child.ask_to_stop()
        asked = time.monotonic()
        for child in children:
            # In short waits, so that a second Ctrl-C is heard.
            while child.is_running() and time.monotonic() < asked + self._patience(child):
                time.sleep(_POLL_SECONDS / 5)
            if not child.end():
                self._say(f"{child.command.role} did not end in time and was killed")

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

    def _write_status(self) -> None:
        path = self._data_dir / STATUS
        scratch = path.with_suffix(".new")
        scratch.write_bytes(msgspec.json.encode([_role(child) for child in self._children]))
        scratch.replace(path)


def _role(child: Child) -> Role:
    state = "running" if child.is_running() else "restarting"
    return Role(child.command.role, state, child.pid, child.restarts)


def _accepts(address: tuple[str, int]) -> bool:
    try:
        with socket.create_connection(address, timeout=0.5):
            return True
    except OSError:
        return False


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
