"""Upload of events to a collector in batches, repeated until each is accepted or rejected.

An own sender (history, files, Kafka) stores its position only after `post` returned.
By then each event is in the spool, or is rejected for good.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from threading import Event
from typing import Protocol, TypeVar
from urllib.parse import quote

import httpx
import msgspec
import structlog

from service.ingest.collector_client import CollectorClient, Target, detail_of

_BATCH_PATH = "/api/v1/lineage/batch"
_BATCH_EVENTS = 500
_BATCH_BYTES = 4_194_304
_raw = msgspec.json.Decoder(msgspec.Raw)

_MAX_EVENT_BYTES = 10_485_760  # the collector's default limit
_KEPT_BYTES = 65_536  # of a rejected event; the collector keeps no more of any

_log = structlog.get_logger()


class HasBody(Protocol):
    """Event with its original bytes, and further fields for its sender."""

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
        if lot and (len(lot) >= _BATCH_EVENTS or lot_bytes + len(event.body) > _BATCH_BYTES):
            yield lot
            lot, lot_bytes = [], 0
        lot.append(event)
        lot_bytes += len(event.body)
    if lot:
        yield lot


class RejectedUpload(msgspec.Struct, frozen=True):
    """Event that the collector rejects for good.

    Attributes:
        index: position in the posted events.
        is_kept: whether the collector stores the body, with the reason.
    """

    index: int
    reason: str
    is_kept: bool = True


class EventUploader:
    """Uploader to one collector; one caller at a time."""

    def __init__(self, reach: CollectorClient) -> None:
        self._reach = reach

    def wait_for_collector(self) -> None:
        """Post an empty batch until the collector accepts it: it answers, and the token is right.

        Raises:
            UnansweredError, UploadStoppedError, RejectedInputError: as `post`.
        """
        self._reach.go_on()
        self._reach.answered(_BATCH_PATH, b"[]")

    def post(self, bodies: Sequence[bytes], where: Sequence[str] = ()) -> list[RejectedUpload]:
        """Post events; return the rejected ones. All others are durable when this returns.

        Args:
            bodies: one event each; invalid ones are rejected.
            where: source of each event, which a rejected event is listed with.

        Raises:
            UnansweredError: the time for retries is over. Some events may be stored; repeating the
                call stores none of them twice.
            UploadStoppedError: the process was asked to end; as above.
            RejectedInputError: the token is missing or wrong, and the time for retries is limited;
                as above.
        """
        self._reach.go_on()
        names = where or [""] * len(bodies)
        large = {n for n, body in enumerate(bodies) if len(body) > _MAX_EVENT_BYTES}
        rest = [n for n in range(len(bodies)) if n not in large]
        # What is no JSON value would spoil the batch for all, or pass for two events.
        whole = [n for n in rest if is_json(bodies[n])]
        rejected = [self._post_cut(bodies[n], n, names[n]) for n in sorted(large)]
        rejected += self._post_together(bodies, whole, names)
        for n in sorted(set(rest) - set(whole)):
            rejected += self._post_alone(bodies[n], n, names[n])
        return sorted(rejected, key=lambda one: one.index)

    def _post_together(
        self, bodies: Sequence[bytes], places: list[int], names: Sequence[str]
    ) -> list[RejectedUpload]:
        if not places:
            return []
        body = b"[" + b",".join(bodies[n] for n in places) + b"]"
        answer = self._reach.answered(_BATCH_PATH, body)
        if answer.status_code == httpx.codes.OK:
            return self._rejections_of(answer, bodies, places, names)
        if answer.is_success:
            return []
        # One event spoilt it for all: sent alone, each is answered for itself.
        return [one for n in places for one in self._post_alone(bodies[n], n, names[n])]

    def _rejections_of(
        self,
        answer: httpx.Response,
        bodies: Sequence[bytes],
        places: list[int],
        names: Sequence[str],
    ) -> list[RejectedUpload]:
        """Name the rejected ones; post those again that were not looked at."""
        failures = answer.json().get("failed_events", [])
        again = [places[one["index"]] for one in failures if one.get("retriable")]
        rejected = [
            RejectedUpload(places[one["index"]], str(one["reason"]))
            for one in failures
            if not one.get("retriable")
        ]
        if len(again) < len(places):
            return rejected + self._post_together(bodies, again, names)
        return rejected + [one for n in again for one in self._post_alone(bodies[n], n, names[n])]

    def _post_alone(self, body: bytes, place: int, name: str) -> list[RejectedUpload]:
        answer = self._reach.answered("/api/v1/lineage", body)
        if answer.is_success:
            return []
        if answer.status_code == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
            return [self._post_cut(body, place, name)]
        return [_rejection(place, answer)]

    def _post_cut(self, body: bytes, place: int, name: str) -> RejectedUpload:
        """Have the collector keep the head of what it does not take, with its size and place."""
        text = f"{len(body)} bytes" + (f" at {quote(name, safe='/ :@#')}" if name else "")
        more = {"Lineward-Too-Large": text}
        answer = self._reach.answered("/api/v1/lineage", body[:_KEPT_BYTES], more)
        return _rejection(place, answer)


def _rejection(place: int, answer: httpx.Response) -> RejectedUpload:
    return RejectedUpload(place, detail_of(answer), answer.status_code == httpx.codes.BAD_REQUEST)


def endless_uploader(target: Target, stopping: Event) -> EventUploader:
    """Return an uploader that tries until the collector answers, and logs what is in the way."""
    report = partial(_report, target.url)
    return EventUploader(CollectorClient(target, stopping=stopping, on_trouble=report))


def _report(url: str, error: str) -> None:
    _log.warning("collector_not_reached", url=url, error=error, next="retries without end")
