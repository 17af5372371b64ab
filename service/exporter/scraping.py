"""Port of the metrics: few scrapes at once, and no thread for a client that only connects."""

import asyncio
import gzip
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any, Final

import msgspec
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder, gzip_accepted

from lineage.process.http_hosts import Header, OwnHosts, find_cross_site, find_foreign_host

_SCRAPES: Final = 2  # made at once; each reads the catalog
_WAITING: Final = 16  # Prometheus asks every few seconds: more are no Prometheus
_TEXT: Final = "text/plain; charset=utf-8"


class ScrapeResponse(msgspec.Struct, frozen=True):
    """Response before it is sent."""

    status: int
    body: bytes
    headers: dict[str, str] = {}


class Scraping:
    """ASGI application over one registry."""

    def __init__(self, registry: CollectorRegistry, own: OwnHosts) -> None:
        self._registry = registry
        self._own = own
        self._asked = 0
        self._threads = ThreadPoolExecutor(_SCRAPES, thread_name_prefix="scrape")

    async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI
        """Answer one request."""
        if scope["type"] != "http":
            raise RuntimeError("only HTTP is served")  # as ASGI says it of a lifespan
        answer = await self._answer(scope)
        given = {"content-type": _TEXT, "content-length": str(len(answer.body)), **answer.headers}
        headers = [(name.encode(), value.encode()) for name, value in given.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        body = b"" if scope["method"] == "HEAD" else answer.body
        await send({"type": "http.response.body", "body": body, "more_body": False})

    async def _answer(self, scope: Any) -> ScrapeResponse:  # noqa: ANN401 - ASGI
        header = header_of(scope["headers"])
        if (problem := find_foreign_host(header("host") or "", self._own)) is not None:
            return _rejection(HTTPStatus.BAD_REQUEST, problem)
        if (problem := find_cross_site(scope["method"], header, self._own)) is not None:
            return _rejection(HTTPStatus.FORBIDDEN, problem)
        if scope["method"] not in {"GET", "HEAD"}:
            return _rejection(HTTPStatus.METHOD_NOT_ALLOWED, "GET /metrics")
        if scope["path"] == "/livez":
            return ScrapeResponse(HTTPStatus.OK, b"alive\n")
        if scope["path"] not in {"/", "/metrics"}:
            return _rejection(HTTPStatus.NOT_FOUND, "no such path; available: /metrics and /livez")
        return await self._scrape(header)

    async def _scrape(self, header: Header) -> ScrapeResponse:
        if self._asked >= _SCRAPES + _WAITING:
            return _rejection(HTTPStatus.SERVICE_UNAVAILABLE, "too many concurrent scrapes")
        self._asked += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, self._made, header)
        finally:
            self._asked -= 1

    def _made(self, header: Header) -> ScrapeResponse:
        encode, kind = choose_encoder(header("accept") or "")
        text = encode(self._registry)
        if gzip_accepted(header("accept-encoding") or ""):
            packed = {"content-type": kind, "content-encoding": "gzip"}
            return ScrapeResponse(HTTPStatus.OK, gzip.compress(text, compresslevel=1), packed)
        return ScrapeResponse(HTTPStatus.OK, text, {"content-type": kind})


def header_of(headers: Iterable[tuple[bytes, bytes]]) -> Header:
    """Return the look-up of a header's value by its lower-case name."""
    found = {name.lower(): value for name, value in headers}

    def header(name: str) -> str | None:
        value = found.get(name.encode())
        return None if value is None else value.decode("latin-1")

    return header


def _rejection(status: HTTPStatus, problem: str) -> ScrapeResponse:
    return ScrapeResponse(status, f"{problem}\n".encode())
