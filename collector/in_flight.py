"""Limit of the bytes of all bodies in memory, which bounds the memory of the collector."""

import asyncio
from types import TracebackType
from typing import Self

from collector.errors import BusyError


class InFlight:
    """Bytes of all requests that are being read, validated or stored."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self.bytes = 0
        # A gzip of a few kilobytes becomes megabytes: one at a time does, the others wait small.
        self.inflating = asyncio.Lock()

    def reserve(self) -> "Reservation":
        """Return what one request holds: nothing yet."""
        return Reservation(self)

    def has_room(self, more: int, own: int) -> bool:
        """Return whether a request that holds `own` may hold `more`; a single one always may."""
        return self.bytes == own or self.bytes + more <= self._max_bytes


class Reservation:
    """Bytes reserved for one request, released at the end of the `with` block."""

    __slots__ = ("_all", "_own")

    def __init__(self, in_flight: InFlight) -> None:
        self._all = in_flight
        self._own = 0

    def add(self, count: int) -> None:
        """Hold `count` bytes more.

        Raises:
            BusyError: all requests together would hold more than the bound.
        """
        if not self._all.has_room(count, self._own):
            detail = "the collector has too many bytes of requests in progress: send it again"
            raise BusyError(detail)
        self._own += count
        self._all.bytes += count

    def inflating(self) -> asyncio.Lock:
        """Return the lock under which one body at a time grows by much."""
        return self._all.inflating

    def give_back(self) -> None:
        """Hold nothing any more."""
        self._all.bytes -= self._own
        self._own = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.give_back()
