"""Types for the part of Granian's RSGI that is used here, and answers that close a connection."""

from collections.abc import AsyncIterator, Coroutine
from typing import Any, Protocol

_CLOSE = ("connection", "close")


class Headers(Protocol):
    """Header fields, by lower-case name."""

    def __contains__(self, key: str) -> bool:
        """Return whether the field was sent."""

    def get(self, key: str) -> str | None:
        """Return the value of a field."""

    def get_all(self, key: str) -> list[str]:
        """Return all values of a field, in the order sent."""


class Scope(Protocol):
    """Request without its body."""

    method: str
    path: str
    authority: str | None
    headers: Headers


class Http(Protocol):
    """Request body, and the one response."""

    async def __call__(self) -> bytes:
        """Return the whole body."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the body in chunks."""

    async def client_disconnect(self) -> None:
        """Return when the client has closed the connection."""

    def response_empty(self, status: int, headers: list[tuple[str, str]]) -> None:
        """Answer without a body."""

    def response_str(self, status: int, headers: list[tuple[str, str]], body: str) -> None:
        """Answer with text."""

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        """Answer with bytes."""


class ClosingRequest:
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
