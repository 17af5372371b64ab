"""Reads a request's body within its bounds: bytes as sent, bytes inflated, seconds."""

import hmac
import zlib

from collector.deadlines import Deadlines
from collector.errors import (
    EncodingError,
    MalformedRequestError,
    TooLargeError,
    TooSlowError,
    UnauthorizedError,
)
from collector.rsgi import Http, Scope

_GZIP = 31  # zlib's window bits for a gzip header


def check_host(scope: Scope) -> None:
    """Refuse a request that names no host, or two (RFC 9112, 3.2).

    Framing is hyper's: it refuses what could be read in two ways, but for Content-Length beside
    Transfer-Encoding; of these it hides the former, and closes the connection after the answer.

    Raises:
        MalformedRequestError: no Host, or several.
    """
    hosts = len(scope.headers.get_all("host"))
    if hosts > 1 or not (hosts or scope.authority):
        detail = f"{hosts} Host headers: one is required"
        raise MalformedRequestError(detail)


def check_token(scope: Scope, token: bytes | None) -> None:
    """Let the bearer of the token pass; anyone, where none is configured.

    Raises:
        UnauthorizedError: no token, or another one.
    """
    if token is None:
        return
    given = (scope.headers.get("authorization") or "").encode()
    if not hmac.compare_digest(given, b"Bearer " + token):
        detail = "expected Authorization: Bearer with the token of LINEWARD_COLLECTOR_TOKEN_FILE"
        raise UnauthorizedError(detail)


async def read(
    scope: Scope,
    protocol: Http,
    *,
    max_bytes: int,
    max_inflated_bytes: int,
    deadlines: Deadlines,
) -> bytes:
    """The whole body, inflated.

    Raises:
        TooLargeError: as soon as a bound is passed; nothing after it is read.
        TooSlowError: not all there at the deadline.
        EncodingError: an encoding that is not gzip.
        MalformedRequestError: gzip that is cut, or has something after its end.
    """
    encoding = (scope.headers.get("content-encoding") or "identity").strip().lower()
    if encoding not in ("identity", "gzip"):
        detail = f"Content-Encoding {encoding[:80]!r}: send plain JSON or one gzip"
        raise EncodingError(detail)
    try:
        with deadlines:
            body = await _receive(scope, protocol, max_bytes)
    except TimeoutError as error:
        detail = f"the body was not here after {deadlines.seconds:g} s"
        raise TooSlowError(detail) from error
    return body if encoding == "identity" else _inflate(body, max_inflated_bytes)


async def _receive(scope: Scope, protocol: Http, max_bytes: int) -> bytes:
    declared = scope.headers.get("content-length")
    if declared is not None:
        if int(declared) > max_bytes:
            raise _too_large(max_bytes)
        body: bytes = await protocol()
        return body
    chunks = bytearray()
    async for chunk in protocol:
        chunks += chunk
        if len(chunks) > max_bytes:
            raise _too_large(max_bytes)
    return bytes(chunks)


def _inflate(body: bytes, max_bytes: int) -> bytes:
    inflater = zlib.decompressobj(_GZIP)
    try:
        inflated = inflater.decompress(body, max_bytes + 1)
    except zlib.error as error:
        raise MalformedRequestError(f"not gzip: {error}", reason="not_gzip") from error
    if len(inflated) > max_bytes:
        raise _too_large(max_bytes, "inflated ")
    if not inflater.eof or inflater.unused_data:
        detail = "the gzip body is cut, or something follows it"
        raise MalformedRequestError(detail, reason="not_gzip")
    return inflated


def _too_large(max_bytes: int, what: str = "") -> TooLargeError:
    return TooLargeError(f"the {what}body is larger than {max_bytes} bytes")
