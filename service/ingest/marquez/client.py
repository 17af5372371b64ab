"""Marquez over HTTP: what it is asked, what its answers mean, and all events of a span of time.

Marquez has no cursor: pages by offset shift while events arrive, and repeat or skip events of one
instant, which it sorts in any order. So no page is ever asked for by its offset. A full answer is
complete up to its last instant, from which the next one begins; where one instant alone fills it,
the limit grows, which has no maximum.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote

import httpx
import msgspec

from lineage.errors import RequestError
from lineage.process.clock import SECOND_MICROS, from_micros
from service.ingest.marquez.event_identity import Pulled, pulled_of
from service.ingest.marquez.settings import MarquezSettings

_MAX_ANSWER_BYTES = 67_108_864
_SHOWN_CHARACTERS = 200
# Of this one event; every other 4xx (a token, a path, a limit) would be the answer to all of them.
_REJECTIONS = (400, 413, 415, 422)
# Errors of the client; every other 4xx is of what it asked for.
_OF_THE_ASKER = (401, 403, 407, 408, 429)
_JSON = {"Content-Type": "application/json"}

FAR_FUTURE = 253_370_764_800_000_000  # 9999-01-01: a producer's clock may be anywhere
_PAGE_EVENTS = 500
_PAGE_GROWTH = 4
_MILLISECOND = 1_000


class MarquezError(RequestError):
    """Error: Marquez does not answer, or not as it should: the request is repeated later."""

    exit_code = 5
    status = 503
    title = "Marquez does not answer"


class AnswerTooLargeError(MarquezError):
    """Error: its answer is over 64 MiB."""


class RunRejectedError(MarquezError):
    """Error: Marquez says neither that it knows this one run nor that it does not."""


class SendResult(msgspec.Struct, frozen=True):
    """Result of sending one event.

    Attributes:
        outcome: `sent`; `rejected`: this event will never be accepted; `failed`: it may be, later.
        reason: a word of a small set.
        detail: what was answered, cut.
        status: of the answer; 0 without one.
    """

    outcome: Literal["sent", "rejected", "failed"]
    reason: str = ""
    detail: str = ""
    status: int = 0


class _Page(msgspec.Struct):
    events: list[msgspec.Raw]


class _Answer(msgspec.Struct, frozen=True):
    status: int
    body: bytes


class Marquez:
    """Client of one Marquez, which follows no redirects and ignores proxies of the environment."""

    def __init__(self, settings: MarquezSettings) -> None:
        self.url = settings.base_url
        self._timeout_seconds = settings.timeout_seconds
        self._client = httpx.AsyncClient(
            headers=settings.authorization,
            timeout=settings.timeout_seconds,
            trust_env=False,
            limits=httpx.Limits(max_connections=settings.connections + 4),
        )

    async def close(self) -> None:
        """Close its connections."""
        await self._client.aclose()

    async def post(self, body: bytes) -> SendResult:
        """Send one event; never raises: the result says what went wrong."""
        try:
            answer = await self._ask("POST", "/api/v1/lineage", content=body, headers=_JSON)
        except MarquezError as error:
            return SendResult("failed", "unreachable", str(error))
        return _result(answer)

    async def events(self, *, after: int, before: int, limit: int) -> list[Pulled]:
        """Return the first RunEvents of [after, before) by the producer's time, ascending; µs.

        Raises:
            MarquezError: no answer, or none that is a page of events.
            AnswerTooLargeError: the page is over 64 MiB: ask for less.
        """
        params: dict[str, str | int] = {
            # Both always: what is later than 2030 is hidden by default.
            "after": _iso(from_micros(after)),
            "before": _iso(from_micros(before)),
            "sortDirection": "asc",
            "limit": limit,
        }
        answer = await self._asked("/api/v1/events/lineage", params)
        try:
            return [pulled_of(bytes(raw)) for raw in msgspec.json.decode(answer, type=_Page).events]
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            message = f"{self.url}/api/v1/events/lineage: expected a page of events: {error}"
            raise MarquezError(message) from error

    async def lineage(self, node_id: str, depth: int) -> tuple[int, float]:
        """Return the status and duration in seconds of a lineage query.

        Raises:
            MarquezError: no answer.
        """
        started = time.monotonic()
        params: dict[str, str | int] = {"nodeId": node_id, "depth": depth}
        answer = await self._ask("GET", "/api/v1/lineage", params=params)
        return answer.status, time.monotonic() - started

    async def has_run(self, run_id: str) -> bool:
        """Return whether Marquez has the run.

        Raises:
            RunRejectedError: Marquez rejects the id of the run as invalid.
            MarquezError: there is no answer, or another status than 200 and 404.
        """
        answer = await self._ask("GET", f"/api/v1/jobs/runs/{quote(run_id, safe='')}")
        if answer.status in (httpx.codes.OK, httpx.codes.NOT_FOUND):
            return answer.status == httpx.codes.OK
        message = f"{self.url}/api/v1/jobs/runs/{run_id[:80]}: HTTP {answer.status}"
        if httpx.codes.is_client_error(answer.status) and answer.status not in _OF_THE_ASKER:
            raise RunRejectedError(message)
        raise MarquezError(message)

    async def _asked(self, path: str, params: dict[str, str | int]) -> bytes:
        answer = await self._ask("GET", path, params=params)
        if answer.status != httpx.codes.OK:
            message = f"{self.url}{path}: HTTP {answer.status} {_shown(answer.body)}"
            raise MarquezError(message)
        return answer.body

    async def _ask(self, method: str, path: str, **request: Any) -> _Answer:  # noqa: ANN401 - httpx's
        try:
            # httpx bounds each wait for a byte; who sends one now and then would never end.
            async with (
                asyncio.timeout(2 * self._timeout_seconds),
                self._client.stream(method, self.url + path, **request) as response,
            ):
                return _Answer(response.status_code, await _bounded(response))
        except (httpx.TransportError, httpx.DecodingError, TimeoutError) as error:
            message = f"{self.url}{path}: {type(error).__name__} {error}".strip()
            raise MarquezError(message) from error


async def _bounded(response: httpx.Response) -> bytes:
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > _MAX_ANSWER_BYTES:
            message = f"{response.url.path}: an answer over {_MAX_ANSWER_BYTES} bytes"
            raise AnswerTooLargeError(message)
    return bytes(body)


def _result(answer: _Answer) -> SendResult:
    detail = f"HTTP {answer.status} {_shown(answer.body)}".strip()
    if httpx.codes.is_success(answer.status):
        return SendResult("sent")
    if answer.status in _REJECTIONS:
        return SendResult("rejected", f"http_{answer.status}", detail)
    if httpx.codes.is_server_error(answer.status) and _is_clients_fault(answer.body):
        # JSON that it cannot map, as a facet of another type, is a 500 that says 400 inside.
        return SendResult("rejected", "unprocessable", detail)
    return SendResult("failed", f"http_{answer.status}", detail, answer.status)


def _is_clients_fault(body: bytes) -> bool:
    try:
        code = msgspec.json.decode(body)["code"]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, TypeError):
        return False
    return code in _REJECTIONS


def _shown(body: bytes) -> str:
    return body[:_SHOWN_CHARACTERS].decode("utf-8", "replace")


def _iso(instant: datetime) -> str:
    return instant.isoformat().replace("+00:00", "Z")


async def events_between(
    marquez: Marquez, after: int, before: int, *, limit: int = _PAGE_EVENTS
) -> AsyncIterator[list[Pulled]]:
    """Return RunEvents of [after, before) by the producer's time; some of them twice.

    Args:
        marquez: is asked.
        after: µs, inclusive.
        before: µs, exclusive.
        limit: how many at a time.

    Raises:
        MarquezError: an answer is missing; what was given before it is sound.
        AnswerTooLargeError: one event, or those of one instant, are over what an answer may hold.
    """
    asked, most = limit, None
    while True:
        try:
            page = await marquez.events(after=after, before=before, limit=asked)
        except AnswerTooLargeError:
            if asked == 1:
                raise
            asked = most = asked // 2
            continue
        yield page
        if len(page) < asked:
            return
        # Its column may be rounded where the event's text is cut.
        reached = max(event.at for event in page) // _MILLISECOND * _MILLISECOND - _MILLISECOND
        if reached > after:
            after, asked, most = reached, limit, None
        elif most is None:
            asked *= _PAGE_GROWTH
        else:
            message = f"over {most} events with one timestamp, too many for one answer"
            raise AnswerTooLargeError(message)


def next_after(page: Iterable[Pulled], after: int) -> int:
    """Return from where to read after a page, µs: ties of its last may be on the next one."""
    return max([after, *(event.at - SECOND_MICROS for event in page)])
