"""Detects that a client has disconnected while its response is being made.

A server reports a client that went away only to those who ask for its next message, and reports
of them so once an answer is through. So somebody has to listen meanwhile.
"""

import asyncio
import time
from types import TracebackType
from typing import Self

from litestar.types import Message, Receive
from litestar.types.asgi_types import ReceiveMessage

from lineage.errors import RequestError

_GONE = "http.disconnect"


class DisconnectWatcher:
    """Listener between `async with` and its end; `receive` gives the messages to the handler."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        # One at a time: of a body that nobody reads no more is taken in.
        self._received: asyncio.Queue[ReceiveMessage] = asyncio.Queue(1)
        self._task: asyncio.Task[None] | None = None
        self._started = time.perf_counter()
        self.left_after_seconds: float | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._listen())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def receive(self) -> ReceiveMessage:
        """Return the next message, like the server's own `receive`."""
        return await self._received.get()

    async def _listen(self) -> None:
        while True:
            message = await self._next()
            if message["type"] == _GONE:
                self.left_after_seconds = time.perf_counter() - self._started
            await self._received.put(message)
            if message["type"] == _GONE:
                return

    async def _next(self) -> ReceiveMessage:
        try:
            return await self._receive()
        except RequestError:  # a body that nobody reads here, and that does not come
            return {"type": "http.disconnect"}


def is_last(message: Message) -> bool:
    """Return whether a response ends with this message."""
    return message["type"] == "http.response.body" and not message.get("more_body", False)
