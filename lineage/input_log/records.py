"""Records of the Kafka log: events, and what collectors report of themselves.

The value is the body, to the byte. What is known of the body stands in headers, as text.
"""

import hashlib
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from lineage.process.clock import LATEST_MICROS

EVENT_KINDS: Final = ("run", "job", "dataset")
HEARTBEAT: Final = "heartbeat"  # the collector lives
GOODBYE: Final = "goodbye"  # the collector ends, and all of its spool is in the log
GAP: Final = "gap"  # the collector was silent from `received_at` to `ended_at`
REJECTED: Final = "rejected"  # the collector did not accept a body
FOREIGN: Final = "foreign"  # a record that no shipper of ours wrote

_Headers = list[tuple[str, bytes]]
_KINDS: Final = (*EVENT_KINDS, HEARTBEAT, GOODBYE, GAP, REJECTED)
_MOST, _LONGEST = (1 << 62), 500


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Record of the topic.

    Attributes:
        kind: one of `EVENT_KINDS`, or of the words above.
        collector: that received it.
        received_at: by the collector's clock, µs.
        origin: one of `lineage.origins`, of events and rejected bodies.
        seq: number in the collector's spool.
        window: in which the shipper sent it: all of a window are sent again, or none.
        reason: why a body was rejected.
        count: rejected bodies that the record stands for.
        ended_at: of a gap, µs.
        body: of an event or a rejected body.
    """

    kind: str
    collector: str
    received_at: int
    origin: str = ""
    seq: int = 0
    window: str = ""
    reason: str = ""
    count: int = 1
    ended_at: int = 0
    body: bytes = b""

    @property
    def is_event(self) -> bool:
        """Return whether the body is one event."""
        return self.kind in EVENT_KINDS

    @property
    def identity(self) -> str:
        """Return the number and the content, which identify a record among those of its window."""
        digest = hashlib.blake2b(self.body, digest_size=8).hexdigest()
        return f"{self.kind}:{self.seq}:{digest}"


def _read_number(value: bytes) -> int:
    return _within(int(value), _MOST)


def _read_time(value: bytes) -> int:
    return _within(int(value), LATEST_MICROS)


def _within(number: int, most: int) -> int:
    """Return the number; raise ValueError where no table could hold it."""
    if not 0 <= number <= most:
        raise ValueError(number)
    return number


def _read_text(value: bytes) -> str:
    """Return the text; raise ValueError where no table could hold it."""
    text = value.decode()
    if "\0" in text or len(text) > _LONGEST:
        raise ValueError(text)
    return text


_FIELDS: Final = tuple(name for name in Record.__struct_fields__ if name != "body")
_DEFAULTS: Final = {"origin": "", "seq": 0, "window": "", "reason": "", "count": 1, "ended_at": 0}
_READ: Final[dict[str, Callable[[bytes], int | str]]] = {
    **dict.fromkeys(_FIELDS, _read_text),
    **dict.fromkeys(("received_at", "ended_at"), _read_time),
    **dict.fromkeys(("seq", "count"), _read_number),
}


def headers_of(record: Record) -> _Headers:
    """Return the headers of a record; those without a value are left out."""
    given = ((name, getattr(record, name)) for name in _FIELDS)
    return [(name, str(value).encode()) for name, value in given if value != _DEFAULTS.get(name)]


def read_record(headers: Iterable[tuple[str, bytes | None]] | None, body: bytes | None) -> Record:
    """Return the record of a message; one that no shipper wrote is `FOREIGN`, and no error."""
    found = {name: value for name, value in headers or () if value is not None}
    try:
        given = {name: _READ[name](value) for name, value in found.items() if name in _READ}
        record = Record(**given, body=body or b"")  # type: ignore[arg-type]
    except (TypeError, ValueError):
        record = None
    if record is None or record.kind not in _KINDS:
        return Record(kind=FOREIGN, collector="", received_at=0, body=body or b"")
    return record
