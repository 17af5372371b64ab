"""ETag of each response of the API, so that an unchanged response is not sent again.

Around the gate: an answer was decided, made and audited, with all that it names, before it is found
to be known. A tag is of the bytes alone, so nobody learns by one what they could not ask for.
"""

import hashlib
import re

from litestar.datastructures import MutableScopeHeaders
from litestar.types import ASGIApp, HTTPResponseStartEvent, Message, Receive, Scope, Send

from service.api.access.gate import OPEN
from service.api.problems import is_page
from service.api.served.disconnect import is_last

_GIVEN = re.compile(rb'(?:W/)?("[^"]*")')
_OK, _NOT_MODIFIED = 200, 304
# Cached by the client alone, and asked for again each time.
_KEPT = {"Cache-Control": "private, no-cache", "Vary": "Authorization"}
_OF_THE_BODY = ("content-type", "content-length")


class ETags:
    """ASGI middleware that adds the ETag of a response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or say that nothing changed."""
        is_kept = _is_kept(scope)
        await self._app(scope, receive, _Tagged(scope, send).send if is_kept else send)


def _is_kept(scope: Scope) -> bool:
    is_open = scope["route_handler"].opt.get("access") == OPEN
    return scope.get("method") == "GET" and not is_open and not is_page(scope)


class _Tagged:
    """Response that waits for its last byte, which its tag depends on."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._known = _given(scope)
        self._send = send
        self._start: HTTPResponseStartEvent | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        """Hold what is answered with 200; all else passes."""
        if message["type"] == "http.response.start" and message["status"] == _OK:
            self._start = message
        elif self._start is None or message["type"] != "http.response.body":
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if is_last(message):
                await self._release(self._start)

    async def _release(self, start: HTTPResponseStartEvent) -> None:
        tag = f'"{hashlib.sha256(self._body).hexdigest()[:32]}"'
        headers = MutableScopeHeaders.from_message(start)
        for name, value in {**_KEPT, "ETag": tag}.items():
            headers[name] = value
        if tag in self._known or "*" in self._known:
            start["status"], self._body = _NOT_MODIFIED, b""
            for name in _OF_THE_BODY:
                headers.pop(name, None)
        await self._send(start)
        await self._send({"type": "http.response.body", "body": self._body, "more_body": False})


def _given(scope: Scope) -> set[str]:
    """Return the client's tags; weak ones too, as the comparison requires."""
    values = [value for name, value in scope["headers"] if name.lower() == b"if-none-match"]
    tags = {tag.decode("latin-1") for value in values for tag in _GIVEN.findall(value)}
    return tags | {"*" for value in values if value.strip() == b"*"}
