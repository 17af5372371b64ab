"""Supervisor's end of a role's health reports."""

import socket

import msgspec

from lineage.process.health import VARIABLE, Heartbeat

_MOST_BYTES = 65_536


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
        """Read what has come; whether anything has."""
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
            return self._ours.recv(_MOST_BYTES)
        except BlockingIOError:
            return None
