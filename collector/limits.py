"""Reader of a request's body within its bounds: bytes as sent, bytes inflated, seconds."""

import asyncio
import contextlib
import time
import zlib

import msgspec

from collector.admission import content_encoding
from collector.deadlines import Deadlines
from collector.errors import (
    BodyTimeoutError,
    BusyError,
    ClientGoneError,
    MalformedRequestError,
    RejectedRequestError,
    TooLargeError,
)
from collector.in_flight import Reservation
from collector.rsgi import Http, Scope

# As many connections as there may be hold 64 MiB of these; only what is larger is counted.
_SMALL_BYTES = 16_384
# A client sends the whole body before it looks at the answer, and a connection that is closed
# before that is a reset to it: the answer is lost. So much is read and dropped first.
_MAX_DROPPED_BYTES = 67_108_864
_MAX_DEADLINES = 6  # so long while it arrives slowly; one deadline while nothing arrives
_GZIP = 31  # zlib's window bits for a gzip header
_INFLATED_AT_ONCE_BYTES = 262_144  # in less than a millisecond


class BodyLimits(msgspec.Struct, frozen=True):
    """Size limits of one body.

    Attributes:
        max_bytes: as sent.
        max_inflated_bytes: after gzip.
        max_head_bytes: kept of a body that is larger.
    """

    max_bytes: int
    max_inflated_bytes: int
    max_head_bytes: int


async def read(
    scope: Scope, protocol: Http, limits: BodyLimits, *, held: Reservation, deadlines: Deadlines
) -> bytes:
    """Return the whole body, decompressed.

    Raises:
        TooLargeError: a bound is passed; the error has the first bytes of the body.
        BusyError: all requests together hold as many bytes as they may.
        BodyTimeoutError: not all there at the deadline.
        ClientGoneError: the connection was closed in the middle of the body.
        MalformedRequestError: gzip that is cut, or has something after its end.
    """
    declared = _declared(scope)
    if declared is not None and declared <= min(_SMALL_BYTES, limits.max_bytes):
        body = await _read_small(protocol, deadlines)
    else:
        body = await _read_large(scope, protocol, limits, held, deadlines)
    if content_encoding(scope) == "identity":
        return body
    return await _inflate(body, limits, held)


async def drop(
    scope: Scope, protocol: Http, error: RejectedRequestError, deadlines: Deadlines
) -> None:
    """Read what the client still sends, so that it sees the answer `error`; up to a bound."""
    if not _waits_for_us(scope):
        with contextlib.suppress(TimeoutError), deadlines:
            await _Incoming(BodyLimits(0, 0, 0), None, error).receive(protocol, deadlines)


async def _read_small(protocol: Http, deadlines: Deadlines) -> bytes:
    try:
        with deadlines:
            return await protocol()
    except TimeoutError as error:
        raise _too_slow(deadlines) from error


async def _read_large(
    scope: Scope, protocol: Http, limits: BodyLimits, held: Reservation, deadlines: Deadlines
) -> bytes:
    declared = _declared(scope)
    problem = _too_large(limits.max_bytes) if (declared or 0) > limits.max_bytes else None
    incoming = _Incoming(limits, held, problem)
    if problem is None or not _waits_for_us(scope):
        await _receive(incoming, protocol, deadlines)
    if isinstance(incoming.problem, TooLargeError):
        incoming.problem.head = bytes(incoming.kept)
        incoming.problem.body_bytes = declared or incoming.body_bytes
    if incoming.problem is not None:
        raise incoming.problem
    if declared is not None and incoming.body_bytes < declared:
        raise ClientGoneError("the connection was closed before the end of the body")
    return bytes(incoming.kept)


async def _receive(incoming: "_Incoming", protocol: Http, deadlines: Deadlines) -> None:
    try:
        with deadlines:
            await incoming.receive(protocol, deadlines)
    except TimeoutError as error:
        if incoming.problem is None:
            raise _too_slow(deadlines) from error


class _Incoming:
    """Body that arrives chunk by chunk; only the head of a rejected one is kept."""

    def __init__(
        self, limits: BodyLimits, held: Reservation | None, problem: RejectedRequestError | None
    ) -> None:
        self._limits = limits
        self._held = held
        self.problem = problem
        self.kept = bytearray()
        self.body_bytes = 0

    async def receive(self, protocol: Http, deadlines: Deadlines) -> None:
        """Take all of it by the deadline; of what is rejected as much as may be dropped.

        Raises:
            TimeoutError: not all there at the deadline, or nothing came of what is dropped.
        """
        ends = time.monotonic() + _MAX_DEADLINES * deadlines.seconds
        async for chunk in protocol:
            self.body_bytes += len(chunk)
            if self.problem is None:
                self._keep(chunk)
            elif (room := self._limits.max_head_bytes - len(self.kept)) > 0:
                self.kept += chunk[:room]
            if self.problem is None:
                continue
            if self.body_bytes > _MAX_DROPPED_BYTES or time.monotonic() > ends:
                return
            deadlines.renew()

    def _keep(self, chunk: bytes) -> None:
        self.kept += chunk
        try:
            if self._held is not None:
                self._held.add(len(chunk))
        except BusyError as error:
            self.problem = error
        if len(self.kept) > self._limits.max_bytes:
            self.problem = _too_large(self._limits.max_bytes)
        if self.problem is not None:
            del self.kept[self._limits.max_head_bytes :]


async def _inflate(body: bytes, limits: BodyLimits, held: Reservation) -> bytes:
    inflating = _Inflating(body, limits)
    held.add(inflating.step())
    if inflating.has_more:
        async with held.inflating():
            while inflating.has_more:
                held.add(await asyncio.to_thread(inflating.step))
    return inflating.result()


class _Inflating:
    """Gzip that is inflated piece by piece, so that what it becomes is bounded on the way."""

    def __init__(self, body: bytes, limits: BodyLimits) -> None:
        self._inflater = zlib.decompressobj(_GZIP)
        self._left = body
        self._limits = limits
        self._inflated = bytearray()
        self.has_more = True

    def step(self) -> int:
        """Inflate a piece, and return its bytes.

        Raises:
            TooLargeError: the body becomes larger than allowed.
            MalformedRequestError: no gzip.
        """
        most = self._limits.max_inflated_bytes
        try:
            piece = self._inflater.decompress(
                self._left, min(_INFLATED_AT_ONCE_BYTES, most + 1 - len(self._inflated))
            )
        except zlib.error as error:
            raise MalformedRequestError(f"not gzip: {error}", reason="not_gzip") from error
        self._left = self._inflater.unconsumed_tail
        self._inflated += piece
        if len(self._inflated) > most:
            raise self._too_large()
        self.has_more = bool(piece) and not self._inflater.eof
        return len(piece)

    def _too_large(self) -> TooLargeError:
        error = _too_large(self._limits.max_inflated_bytes, "inflated ")
        error.head = bytes(self._inflated[: self._limits.max_head_bytes])
        error.body_bytes = len(self._inflated)
        return error

    def result(self) -> bytes:
        """Return the whole body.

        Raises:
            MalformedRequestError: it is incomplete, or something follows.
        """
        if not self._inflater.eof or self._inflater.unused_data:
            detail = "the gzip body is incomplete, or has trailing data"
            raise MalformedRequestError(detail, reason="not_gzip")
        return bytes(self._inflated)


def _declared(scope: Scope) -> int | None:
    declared = scope.headers.get("content-length")
    return None if declared is None else int(declared)


def _waits_for_us(scope: Scope) -> bool:
    """Return whether the client waits before it sends its body (`Expect: 100-continue`)."""
    return (scope.headers.get("expect") or "").lower() == "100-continue"


def _too_slow(deadlines: Deadlines) -> BodyTimeoutError:
    return BodyTimeoutError(f"the body did not arrive within {deadlines.seconds:g} s")


def _too_large(max_bytes: int, what: str = "") -> TooLargeError:
    return TooLargeError(f"the {what}body is larger than {max_bytes} bytes")
