"""Demos as processes, known by the temporary folder in their environment."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.service.commandline import environ
from tests.suite.classes import interpreting

ANY_PORTS = {f"LINEWARD_{role}_PORT": "0" for role in ("COLLECTOR", "SERVICE", "METRICS")}
_ADDRESS = re.compile(r"^  (pages|metrics|events) +http://127\.0\.0\.1:(\d+)/")


class Demo(subprocess.Popen[str]):
    """A `lineward demo` with a temporary folder of its own.

    Attributes:
        said: the lines that were read so far.
        ports: of its `pages`, `metrics` and `events`, once it has printed them.
    """

    def __init__(self, temporary: Path, *arguments: str) -> None:
        self._temporary = temporary
        self.said: list[str] = []
        self.ports: dict[str, int] = {}
        temporary.mkdir(exist_ok=True)
        super().__init__(
            [sys.executable, "-u", "-m", "service.cli.main", "demo", *arguments],
            env=environ(TMPDIR=str(temporary), **ANY_PORTS, **interpreting()),
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
            self.said.append(line)
            if address := _ADDRESS.match(line):
                self.ports[address[1]] = int(address[2])
            if word in line:
                return
        raise AssertionError(f"the demo ended before it said {word!r}: {''.join(self.said)}")

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Send the signal, and return the exit status."""
        self.send_signal(number)
        # It gives `up` 75 s, which a young pipeline on a busy machine needs.
        rest, _ = self.communicate(timeout=300)
        self.said.append(rest)
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
        """End it and all that it started."""
        self.kill()
        self.communicate()
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextmanager
def staying(temporary: Path, *arguments: str) -> Iterator[Demo]:
    """Start a demo that stays up, and read its output up to its addresses."""
    demo = Demo(temporary, *arguments)
    try:
        demo.read_until("/api/v1/lineage")
        yield demo
        demo.stop()
    finally:
        demo.kill_all()
