"""Admission of requests: few reads at once, a deadline for each body.

A body that is cut is the sender's fault.
"""

import asyncio
from typing import Final

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send
from litestar.types.asgi_types import ReceiveMessage

from service.errors import BodyTooSlowError, MalformedBodyError

BODY_SECONDS: Final = 10.0
# Twice the threads that answer. The event loop takes turns with whatever is admitted: of 300 reads
# at once, `/livez` waited for a step of each.
_READS_AT_ONCE: Final = 16
# These need no catalog and no thread that answers.
_ALWAYS_ADMITTED: Final = ("/livez", "/readyz", "/login", "/runbooks", "/listener")


class Intake:
    """ASGI application around another one."""

    def __init__(self, app: ASGIApp, *, body_seconds: float = BODY_SECONDS) -> None:
        self._app = app
        self._body_seconds = body_seconds
        self._reads = asyncio.Semaphore(_READS_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, once it is admitted."""
        if scope["type"] == ScopeType.HTTP:
            receive = _Body(receive, self._body_seconds).receive
        if not _is_read(scope):
            await self._app(scope, receive, send)
            return
        async with self._reads:
            await self._app(scope, receive, send)


def _is_read(scope: Scope) -> bool:
    """Return whether a request may wait: a body that is slow to arrive holds up nobody."""
    return (
        scope["type"] == ScopeType.HTTP
        and scope["method"] in {"GET", "HEAD"}
        and not scope["path"].startswith(_ALWAYS_ADMITTED)
    )


class _Body:
    """Messages of one request, up to the end of its body and behind it."""

    def __init__(self, receive: Receive, seconds: float) -> None:
        self._receive = receive
        self._seconds = seconds
        self._deadline = asyncio.get_running_loop().time() + seconds
        self._is_whole = False

    async def receive(self) -> ReceiveMessage:
        """Return the next message.

        Raises:
            BodyTooSlowError: the body is not complete at its deadline.
            MalformedBodyError: it is cut, or its framing is broken.
        """
        if self._is_whole:  # what follows is the end of the connection, whenever that is
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError as error:
            detail = f"the body did not arrive within {self._seconds:g} s"
            raise BodyTooSlowError(detail) from error
        if message["type"] == "http.disconnect":
            # Granian reports a broken chunk in the same way; a client that left receives neither.
            raise MalformedBodyError("the body is incomplete, or its framing is invalid")
        self._is_whole = not message.get("more_body", False)
        return message
