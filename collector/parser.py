"""Judges events, the large ones beside the event loop and one at a time."""

import asyncio

from collector import events
from collector.settings import Limits

# 256 KiB are judged in 5 ms; 10 MiB in up to seconds, as up to 200 MiB of objects.
_LARGE_BYTES = 262_144


class Parser:
    """`events.parse` for the event loop."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._large = asyncio.Semaphore(1)

    async def parse(self, body: bytes) -> events.Event:
        """Judge one event.

        Raises:
            InvalidEventError: as `events.parse`.
            TooManyError: as `events.parse`.
        """
        if len(body) <= _LARGE_BYTES:
            return events.parse(body, self.limits)
        async with self._large:
            return await asyncio.to_thread(events.parse, body, self.limits)
