"""Identity of an event by its core alone: its run, and whether it equals another event.

Marquez gives an event back with other bytes: keys in another order, facets that nobody sent. What
it keeps is what the pipeline's identity of an event is made of.
"""

from collections import OrderedDict
from datetime import UTC, datetime
from hashlib import blake2b

import msgspec

from lineage.process import clock
from lineage.process.clock import EPOCH, to_micros

_MOST_SEEN = 200_000  # 30 MB; a burst beyond it is deduplicated by the pipeline


class _Run(msgspec.Struct):
    runId: str = ""  # noqa: N815 - the field's name in OpenLineage


class _Named(msgspec.Struct):
    namespace: str = ""
    name: str = ""


class EventCore(msgspec.Struct):
    """Core of an event."""

    eventTime: str = ""  # noqa: N815
    eventType: str | None = None  # noqa: N815
    run: _Run | None = None
    job: _Named | None = None
    dataset: _Named | None = None
    inputs: list[_Named] | None = None
    outputs: list[_Named] | None = None

    @property
    def at(self) -> datetime | None:
        """Return its time by the producer, UTC; None for an invalid time."""
        try:
            found = datetime.fromisoformat(clock.normalize_java_time(self.eventTime))
        except ValueError:
            return None
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found

    @property
    def whose(self) -> str:
        """Return the run that it belongs to, or the job or dataset: these keep their order."""
        if self.run is not None:
            return self.run.runId.lower()
        named = self.job or self.dataset or _Named()
        return f"{named.namespace}/{named.name}"

    def identity(self) -> bytes:
        """Return 16 bytes, the same for every way to write the event."""
        at = self.at
        parts: list[object] = [
            self.whose,
            (self.eventType or "").upper(),
            self.eventTime if at is None else to_micros(at),
            *(_name(named) for named in (self.job, self.dataset)),
            *(sorted(map(_name, side or ())) for side in (self.inputs, self.outputs)),
        ]
        return blake2b(msgspec.json.encode(parts), digest_size=16).digest()


class Pulled(msgspec.Struct, frozen=True):
    """Event as Marquez gave it, in one form for whatever order of keys.

    Attributes:
        body: JSON with sorted keys: given twice, it is the same event to the spool.
        at: instant of its eventTime, µs; 0 where that is no time.
    """

    body: bytes
    known: EventCore
    at: int


class DeliveredEvents:
    """Identities of events that the spool has or had; beyond a bound the oldest are dropped."""

    def __init__(self, most: int = _MOST_SEEN) -> None:
        self._identities: OrderedDict[bytes, None] = OrderedDict()
        self._most = most

    def add(self, identity: bytes) -> None:
        """Note that the spool has this event."""
        self._identities[identity] = None
        self._identities.move_to_end(identity)
        if len(self._identities) > self._most:
            self._identities.popitem(last=False)

    def __contains__(self, identity: bytes) -> bool:
        return identity in self._identities


_decoder = msgspec.json.Decoder(EventCore)
_UNREADABLE = (msgspec.DecodeError, UnicodeError, RecursionError)


def valid_core(body: bytes) -> EventCore:
    """Return the core of a body; fields that violate the specification are left out."""
    try:
        return _decoder.decode(body)
    except _UNREADABLE:
        # The collector took it all the same (a lone surrogate, a null name): a lane of its own.
        return EventCore(eventTime="", run=_Run(blake2b(body, digest_size=16).hexdigest()))


def pulled_of(raw: bytes) -> Pulled:
    """Return the event of one element of Marquez's answer."""
    try:
        body = msgspec.json.encode(msgspec.json.decode(raw), order="sorted")
    except _UNREADABLE:
        body = raw  # for the collector to reject, with its reason
    known = valid_core(body)
    return Pulled(body, known, to_micros(known.at or EPOCH))


def _name(named: _Named | None) -> list[str]:
    return [named.namespace, named.name] if named else []
