"""Channel by which a role reports to `lineward up` that it works, or what fails.

Reports are datagrams on a socket that the role inherits: a full disk does not stop them, and a role
never waits for its supervisor. A role that runs by itself, as in a container, answers on a port
instead: `lineage.process.health_port`.
"""

import os
import socket
import threading
import time
from contextlib import suppress

import msgspec

from lineage.process.clock import Clock, system_clock, to_micros

VARIABLE = "LINEWARD_HEALTH_FD"
_MOST_CHARACTERS = 500
_BEAT_SECONDS = 1.0


class PartFailure(msgspec.Struct, frozen=True):
    """Failure of a part of a role that keeps trying.

    Attributes:
        part: such as `stream` or `evaluation`.
        since: timestamp of the first failed attempt, µs.
        attempts: how many failed in a row.
        error: of the newest attempt, in one line.
    """

    part: str
    since: int
    attempts: int
    error: str


class Heartbeat(msgspec.Struct, frozen=True):
    """Datagram which reports that the role is alive.

    Attributes:
        failures: what fails now.
        worked: parts that have worked since the process began.
    """

    failures: list[PartFailure] = []
    worked: list[str] = []


class Health:
    """State of this process, as its supervisor sees it. Safe for several threads.

    Attributes:
        beat_at: seconds of `time.monotonic` at the last report.
    """

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures: dict[str, PartFailure] = {}
        self._worked: set[str] = set()
        self._channel: socket.socket | None = None
        self.beat_at = time.monotonic()

    def connect(self) -> None:
        """Report to the supervisor that started this process, if one did."""
        # Taken away: a child of ours has the variable, and not the socket.
        number = os.environ.pop(VARIABLE, None)
        if number is not None:
            self._channel = socket.socket(fileno=int(number))
            self._channel.settimeout(0)
        self.beat()

    def descriptor(self) -> int | None:
        """Return the inherited socket, to hand on to a child that reports too."""
        return None if self._channel is None else self._channel.fileno()

    def beat(self) -> None:
        """Report that the role is alive; call it from what would hang."""
        with self._lock:
            self._send()

    def beat_beside(self) -> None:
        """Send heartbeats from a thread: for a role whose own loop waits for others without end."""
        threading.Thread(target=self._beat_for_ever, name="health", daemon=True).start()

    def _beat_for_ever(self) -> None:
        never = threading.Event()
        while not never.wait(_BEAT_SECONDS):
            self.beat()

    def fail(self, part: str, error: str) -> None:
        """Report a failed attempt of one part."""
        with self._lock:
            before = self._failures.get(part)
            since = before.since if before else to_micros(self._clock())
            attempts = before.attempts + 1 if before else 1
            self._failures[part] = PartFailure(part, since, attempts, one_line(error))
            self._send()

    def succeed(self, part: str) -> None:
        """Report that this part works; the next heartbeat reports it where it worked before."""
        with self._lock:
            self._worked.add(part)
            if self._failures.pop(part, None) is not None:
                self._send()

    def failures(self) -> list[PartFailure]:
        """Return what fails now."""
        return list(self._failures.values())

    def _send(self) -> None:
        self.beat_at = time.monotonic()
        if self._channel is not None:
            report = msgspec.json.encode(Heartbeat(self.failures(), sorted(self._worked)))
            # A supervisor that is busy or gone misses one report; the next one says the same.
            with suppress(OSError):
                self._channel.send(report)


def one_line(text: str) -> str:
    """Return the text without line breaks, cut to a length that a list can show."""
    return " ".join(text.split())[:_MOST_CHARACTERS]


HEALTH = Health()
