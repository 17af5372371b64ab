"""Judges events, the large ones beside the event loop and one at a time.

A batch of which a part is no JSON is taken apart, so that each event of it is judged by itself.
"""

import asyncio
import re
from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar

from collector import events
from collector.check_process import CheckProcess
from collector.json_text import STRING
from collector.settings import Limits

_MARK = re.compile(STRING.pattern + rb"|[\[\]{},]", re.DOTALL)
_SPACE = b" \t\r\n"
_OPENING, _CLOSING, _COMMA = b"[{", b"]}", ord(",")

_Found = TypeVar("_Found")

# 256 KiB are judged in 1.2 ms. 10 MiB take a second and up to 200 MiB of objects; a thread for them
# would hold Python's lock, and others would wait for their answers.
_LARGE_BYTES = 262_144


def elements_of(body: bytes) -> list[bytes] | None:
    """Return what stands between the commas of an array; None where the body is no array.

    Brackets are counted and strings skipped; whether what is between them is JSON is not looked at.
    """
    text = body.strip(_SPACE)
    if not text.startswith(b"["):
        return None
    commas, end = _places(text)
    if end != len(text) - 1:
        return None
    borders = [0, *commas, end]
    found = [text[begin + 1 : until].strip(_SPACE) for begin, until in pairwise(borders)]
    return [] if found == [b""] else found


def _places(text: bytes) -> tuple[list[int], int | None]:
    """Return where the commas of the outer array are, and its end."""
    commas: list[int] = []
    depth = 0
    for match in _MARK.finditer(text):
        place = match.start()
        mark = text[place]
        if mark in _OPENING:
            depth += 1
        elif mark in _CLOSING:
            depth -= 1
            if depth == 0:
                return commas, place
        elif mark == _COMMA and depth == 1:
            commas.append(place)
    return commas, None


class EventParser:
    """`events.parse` for the event loop."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._large = asyncio.Semaphore(1)
        self._beside = CheckProcess(limits)

    async def parse(self, body: bytes) -> events.ValidEvent:
        """Judge one event.

        Raises:
            InvalidEventError: as `events.parse`.
            TooManyError: as `events.parse`.
            CheckFailedError: the process for large events has ended.
        """
        if len(body) <= _LARGE_BYTES:
            return events.parse(body, self.limits)
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
