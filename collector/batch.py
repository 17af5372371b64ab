"""Batches of events: split, and validated one by one within bounds of work and memory."""

import asyncio
import time
from collections.abc import Sequence

import msgspec

from collector import events, json_text, metrics
from collector.errors import (
    CheckFailedError,
    ClientGoneError,
    RejectedRequestError,
    TooManyError,
)
from collector.parser import EventParser
from collector.rsgi import Http
from collector.writes import Rejected

_BYTES_A_TURN = 131_072
_raw_list = msgspec.json.Decoder(list[msgspec.Raw])

Parts = Sequence[msgspec.Raw | bytes]


class BatchRejection(msgspec.Struct):
    """Event of a batch that was rejected."""

    index: int
    reason: str
    retriable: bool = False


class BatchResult(msgspec.Struct):
    """Results of the events of a batch."""

    taken: list[events.ValidEvent] = msgspec.field(default_factory=list)
    rejected: list[Rejected] = msgspec.field(default_factory=list)
    failures: list[BatchRejection] = msgspec.field(default_factory=list)

    def answer(self) -> bytes:
        """Name each event that was not taken, in the form of OpenLineage's batches."""
        retriable = sum(failure.retriable for failure in self.failures)
        summary = {
            "received": len(self.taken) + len(self.failures),
            "successful": len(self.taken),
            "failed": len(self.failures),
            "retriable": retriable,
            "non_retriable": len(self.failures) - retriable,
        }
        status = "partial_success" if self.taken else "failure"
        fields = {"status": status, "summary": summary, "failed_events": self.failures}
        return msgspec.json.encode(fields)


async def split(body: bytes, parser: EventParser) -> Parts:
    """Take a batch apart; an event that is no JSON is a part like the others.

    Raises:
        RejectedRequestError: not a JSON array.
        TooManyError: more values or events than a batch may have.
        CheckFailedError: it could not be looked at.
    """
    # Before the decoder, which would make an object of each element: 5,000,000 fit in a batch.
    json_text.check_values(body, parser.limits.max_values)
    found = await _parts(body, parser)
    most = parser.limits.max_batch_events
    if len(found) > most:
        raise TooManyError(
            f"$: {len(found)} events; the maximum of a batch is {most}: split it", path="$"
        )
    return found


async def _parts(body: bytes, parser: EventParser) -> Parts:
    try:
        return _raw_list.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        found = await parser.elements(body)
        if found is None:
            detail = f"$: expected a JSON array of events: {error}"
            raise RejectedRequestError(detail, path="$", reason="not_json") from error
        return found


async def judge(bodies: Parts, parser: EventParser, origin: str, protocol: Http) -> BatchResult:
    """Judge each event; after `max_batch_rejected` rejected ones none is looked at any more.

    Raises:
        ClientGoneError: nobody waits for the answer any more; nothing is to be stored.
        CheckFailedError: an event could not be checked; nothing is to be stored.
    """
    judged = BatchResult()
    gone = asyncio.ensure_future(protocol.client_disconnect())
    try:
        await _judge_each(bodies, parser, origin, judged, gone)
    finally:
        gone.cancel()
    return judged


async def _judge_each(
    bodies: Parts,
    parser: EventParser,
    origin: str,
    judged: BatchResult,
    gone: asyncio.Future[None],
) -> None:
    max_rejected, bytes_of_turn = parser.limits.max_batch_rejected, 0
    began = time.monotonic()
    for index, raw in enumerate(bodies):
        if len(judged.failures) >= max_rejected:
            judged.failures += _not_judged(range(index, len(bodies)), max_rejected)
            return
        body = bytes(raw)
        await _judge_one(index, body, parser, origin, judged)
        # An element costs as much as 100 bytes, however short it is.
        bytes_of_turn += len(body) + 100
        if bytes_of_turn > _BYTES_A_TURN:
            bytes_of_turn = 0
            # As long as the turn took, the writer and other senders have Python's lock.
            await asyncio.sleep(time.monotonic() - began)
            if gone.done():
                raise ClientGoneError("the sender of the batch closed the connection")
            began = time.monotonic()


async def _judge_one(
    index: int, body: bytes, parser: EventParser, origin: str, judged: BatchResult
) -> None:
    try:
        judged.taken.append(await parser.parse(body))
    except CheckFailedError:
        raise  # nothing is known about the event: the whole batch is sent again
    except RejectedRequestError as error:
        metrics.REJECTED.labels(error.reason).inc()
        judged.failures.append(BatchRejection(index, error.detail))
        head = body[: parser.limits.max_rejected_bytes]
        judged.rejected.append(Rejected.of(error, head, origin, len(body)))


def _not_judged(indexes: range, max_rejected: int) -> list[BatchRejection]:
    reason = (
        f"not checked: {max_rejected} events of the batch were rejected before it; send it again"
        " without them"
    )
    return [BatchRejection(index, reason, retriable=True) for index in indexes]
