"""Judges events, the large ones beside the event loop and one at a time."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from collector import events
from collector.elements import elements_of
from collector.settings import Limits

_Found = TypeVar("_Found")

# 256 KiB are judged in 5 ms; 10 MiB in up to seconds, as up to 200 MiB of objects.
_LARGE_BYTES = 262_144


class EventParser:
    """`events.parse` for the event loop."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._large = asyncio.Semaphore(1)

    async def parse(self, body: bytes) -> events.ValidEvent:
        """Judge one event.

        Raises:
            InvalidEventError: as `events.parse`.
            TooManyError: as `events.parse`.
        """
        return await self._look(partial(events.parse, limits=self.limits), body)

    async def elements(self, body: bytes) -> list[bytes] | None:
        """Take a batch apart of which a part is no JSON; None where it is no array."""
        return await self._look(elements_of, body)

    async def _look(self, look: Callable[[bytes], _Found], body: bytes) -> _Found:
        if len(body) <= _LARGE_BYTES:
            return look(body)
        async with self._large:
            return await asyncio.to_thread(look, body)
