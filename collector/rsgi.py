"""The part of Granian's RSGI that the collector uses, as types."""

from collections.abc import AsyncIterator
from typing import Protocol


class Headers(Protocol):
    """Header fields, by lower-case name."""

    def __contains__(self, key: str) -> bool:
        """Whether the field was sent."""

    def get(self, key: str) -> str | None:
        """Its value."""

    def get_all(self, key: str) -> list[str]:
        """Its values, in the order sent."""


class Scope(Protocol):
    """One request without its body."""

    method: str
    path: str
    authority: str | None
    headers: Headers


class Http(Protocol):
    """The body, and the one answer."""

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
