"""What is handed to the spool's writer, and who hears what became of it."""

import sqlite3
from typing import Protocol

import msgspec

from collector.errors import RejectedRequestError

Row = tuple[object, ...]


class Rejected(msgspec.Struct, frozen=True):
    """What was refused, kept so that someone can look: the body is cut to the bound."""

    reason: str
    path: str | None
    detail: str
    body: bytes
    body_bytes: int
    origin: str = "http"

    @classmethod
    def of(
        cls, error: RejectedRequestError, body: bytes, origin: str, body_bytes: int
    ) -> "Rejected":
        """Return the row of a body, or of its head, that this error rejected."""
        return cls(error.reason, error.path, error.detail, body, body_bytes, origin)


class Write(msgspec.Struct, frozen=True):
    """Rows that are committed together; `ticket` is for whoever submitted it.

    Attributes:
        struck: (number, body) of refused bodies that are events after all: kept no more.
    """

    events: tuple[Row, ...]
    rejected: tuple[Row, ...]
    ticket: object
    struck: tuple[Row, ...] = ()


class Observer(Protocol):
    """Who is told, from the writer's thread, what became of the writes."""

    def committed(self, group: list[Write], stored: int, seconds: float) -> None:
        """Handle a group that is durable after `seconds`; `stored` of its events were new."""

    def failed(self, group: list[Write], error: sqlite3.Error) -> None:
        """Nothing of the group was kept."""
