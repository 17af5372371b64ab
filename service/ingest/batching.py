"""Batches of events: whole JSON values, limited in number and size."""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

import msgspec

_MAX_EVENTS = 500
_MAX_BYTES = 4_194_304
_raw = msgspec.json.Decoder(msgspec.Raw)


class HasBody(Protocol):
    """Event with its original bytes, and further fields for its reader."""

    @property
    def body(self) -> bytes:
        """Return the bytes of the event; they may be invalid JSON."""


_Held = TypeVar("_Held", bound=HasBody)


def is_json(body: bytes) -> bool:
    """Return whether a body is exactly one JSON value."""
    try:
        _raw.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def batch_events(events: Iterable[_Held]) -> Iterator[list[_Held]]:
    """Split events into batches that one request may hold; a larger event goes alone."""
    lot: list[_Held] = []
    lot_bytes = 0
    for event in events:
        if lot and (len(lot) >= _MAX_EVENTS or lot_bytes + len(event.body) > _MAX_BYTES):
            yield lot
            lot, lot_bytes = [], 0
        lot.append(event)
        lot_bytes += len(event.body)
    if lot:
        yield lot
