"""Which events one request may hold: whole JSON values, so many and so large."""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

import msgspec

_MAX_EVENTS = 500
_MAX_BYTES = 4_194_304
_raw = msgspec.json.Decoder(msgspec.Raw)


class HasBody(Protocol):
    """An event to the byte, and whatever its reader needs to know of it."""

    @property
    def body(self) -> bytes:
        """One JSON value, or what should be one."""


_Held = TypeVar("_Held", bound=HasBody)


def is_json(body: bytes) -> bool:
    """Whether it is one whole JSON value."""
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
