"""Answers after which the client takes a new connection."""

from collections.abc import AsyncIterator, Coroutine
from typing import Any

from collector.rsgi import Http

_CLOSE = ("connection", "close")


class Closing:
    """Request whose answer says `Connection: close`; the server closes the connection then."""

    def __init__(self, http: Http) -> None:
        """Wrap a request."""
        self._http = http

    def __call__(self) -> Coroutine[Any, Any, bytes]:
        """Return the whole body."""
        return self._http()

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Iterate over the chunks of the body."""
        return aiter(self._http)

    def client_disconnect(self) -> Coroutine[Any, Any, None]:
        """Return when the client has closed the connection."""
        return self._http.client_disconnect()

    def response_empty(self, status: int, headers: list[tuple[str, str]]) -> None:
        """Answer without a body."""
        self._http.response_empty(status, [*headers, _CLOSE])

    def response_str(self, status: int, headers: list[tuple[str, str]], body: str) -> None:
        """Answer with text."""
        self._http.response_str(status, [*headers, _CLOSE], body)

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        """Answer with bytes."""
        self._http.response_bytes(status, [*headers, _CLOSE], body)
