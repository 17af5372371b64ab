"""Parser of events: small ones in the event loop, large ones beside it and one at a time."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from collector import events
from collector.check_process import CheckProcess
from collector.elements import elements_of
from collector.settings import Limits

_Found = TypeVar("_Found")

# 256 KiB are judged in 1.2 ms. 10 MiB take a second and up to 200 MiB of objects; a thread for them
# would hold Python's lock, and others would wait for their answers.
_LARGE_BYTES = 262_144


class EventParser:
    """`events.parse_event` for the event loop."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._large = asyncio.Semaphore(1)
        self._beside = CheckProcess(limits)

    async def parse(self, body: bytes) -> events.ValidEvent:
        """Judge one event.

        Raises:
            InvalidEventError: as `events.parse_event`.
            TooManyError: as `events.parse_event`.
            CheckFailedError: the process for large events has ended.
        """
        if len(body) <= _LARGE_BYTES:
            return events.parse_event(body, self.limits)
        return await self._wait(self._beside.parse, body)

    async def elements(self, body: bytes) -> list[bytes] | None:
        """Take a batch apart of which a part is no JSON; None where it is no array.

        Raises:
            CheckFailedError: the process for large batches has ended.
        """
        if len(body) <= _LARGE_BYTES:
            return elements_of(body)
        return await self._wait(self._beside.elements, body)

    async def _wait(self, look: Callable[[bytes], _Found], body: bytes) -> _Found:
        async with self._large:
            return await asyncio.to_thread(look, body)
