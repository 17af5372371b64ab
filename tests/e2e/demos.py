"""Demos as processes, known by the temporary folder in their environment."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.service.commandline import ANY_PORTS, environ
from tests.suite.classes import interpreter_variables

_ADDRESS = re.compile(r"^  (pages|metrics|events) +http://127\.0\.0\.1:(\d+)/")


class Demo(subprocess.Popen[str]):
    """Process of `lineward demo` with a temporary folder of its own.

    Attributes:
        output: the lines that were read so far.
        ports: of its `pages`, `metrics` and `events`, once it has printed them.
    """

    def __init__(self, temporary: Path, *arguments: str) -> None:
        self._temporary = temporary
        self.output: list[str] = []
        self.ports: dict[str, int] = {}
        temporary.mkdir(exist_ok=True)
        super().__init__(
            [sys.executable, "-u", "-m", "service.cli.main", "demo", *arguments],
            env=environ(TMPDIR=str(temporary), **ANY_PORTS, **interpreter_variables()),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def read_until(self, word: str) -> None:
        """Read its output up to the first line with this word.

        Raises:
            AssertionError: it ended before.
        """
        for line in self.stdout or ():
            self.output.append(line)
            if address := _ADDRESS.match(line):
                self.ports[address[1]] = int(address[2])
            if word in line:
                return
        raise AssertionError(f"the demo ended before it printed {word!r}: {''.join(self.output)}")

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Send the signal, and return the exit status."""
        self.send_signal(number)
        # A new pipeline on a busy machine needs the 75 s that the demo gives `up`.
        rest, _ = self.communicate(timeout=300)
        self.output.append(rest)
        return self.returncode

    def processes(self) -> list[int]:
        """Return all processes with its temporary folder in their environment, save zombies."""
        marked = f"TMPDIR={self._temporary}".encode()
        found = []
        for environment in Path("/proc").glob("[0-9]*/environ"):
            with suppress(PermissionError, FileNotFoundError, ProcessLookupError):
                if marked in environment.read_bytes().split(b"\0"):
                    found.append(int(environment.parent.name))
        return found

    def folders(self) -> list[Path]:
        """Return the folders that it made and has not removed."""
        return list(self._temporary.glob("lineward-demo-*"))

    def kill_all(self) -> None:
        """End it and all its child processes."""
        self.kill()
        self.communicate()
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextmanager
def start_demo(temporary: Path, *arguments: str) -> Iterator[Demo]:
    """Start a demo that keeps running, and read its output up to its addresses."""
    demo = Demo(temporary, *arguments)
    try:
        demo.read_until("/api/v1/lineage")
        yield demo
        demo.stop()
    finally:
        demo.kill_all()
