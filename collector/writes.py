"""Rows for the spool's writer, and the observer that receives their results."""

import sqlite3
from typing import Protocol

import msgspec

from collector.errors import RejectedRequestError

SpoolRow = tuple[object, ...]


class Rejected(msgspec.Struct, frozen=True):
    """Rejected body, kept for inspection: it is cut to the bound."""

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


class WriteRequest(msgspec.Struct, frozen=True):
    """Rows that are committed together; `ticket` belongs to the submitter.

    Attributes:
        struck: (number, body) of rejected bodies that are events after all: deleted.
    """

    events: tuple[SpoolRow, ...]
    rejected: tuple[SpoolRow, ...]
    ticket: object
    struck: tuple[SpoolRow, ...] = ()


class Observer(Protocol):
    """Observer of the results of writes, called from the writer's thread."""

    def committed(self, group: list[WriteRequest], stored: int, seconds: float) -> None:
        """Handle a group that is durable after `seconds`; `stored` of its events were new."""

    def failed(self, group: list[WriteRequest], error: sqlite3.Error) -> None:
        """Handle a group of which nothing was stored."""
