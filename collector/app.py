"""The collector's HTTP: two ways in, and three questions about itself."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from collector import events, limits, metrics
from collector.deadlines import Deadlines
from collector.errors import (
    InvalidEventError,
    NotFoundError,
    RefusedError,
    WrongMethodError,
)
from collector.landing import Landing
from collector.rsgi import Http, Scope
from collector.settings import Limits
from lineage import origins

Route = Callable[[Scope, Http], Awaitable[None]]

_TOO_LARGE = "lineward-too-large"  # its size and where it stands, from ship, kafka and backfill
_REQUEUED = "lineward-requeued"  # number of a refused body that is posted again
_TOLD_CHARACTERS = 500
_JSON = [("content-type", "application/json")]
_GIVEN = (
    *(origins.HISTORY, origins.MARQUEZ, origins.MARQUEZ_HISTORY),
    *(origins.FILE, origins.KAFKA),
)
_ORIGINS: dict[str | None, str] = {
    None: origins.HTTP,
    origins.HTTP: origins.HTTP,
    **{word: word for word in _GIVEN},
}
_MOST_DIGITS = 18
_raw_list = msgspec.json.Decoder(list[msgspec.Raw])


class Failure(msgspec.Struct):
    """One event of a batch that was not taken."""

    index: int
    reason: str
    retriable: bool = False


class App:
    """RSGI application over one `Landing`."""

    def __init__(
        self, landing: Landing, bounds: Limits, token: bytes | None, deadlines: Deadlines
    ) -> None:
        self._landing = landing
        self._limits = bounds
        self._token = token
        self._deadlines = deadlines
        self._routes = {
            ("POST", "/api/v1/lineage"): self._post_lineage,
            ("POST", "/api/v1/lineage/batch"): self._post_batch,
            ("GET", "/livez"): self._get_livez,
            ("GET", "/readyz"): self._get_readyz,
            ("GET", "/metrics"): self._get_metrics,
        }

    async def __rsgi__(self, scope: Scope, protocol: Http) -> None:
        """Answer one request; every refusal becomes its status here."""
        try:
            limits.check_host(scope)
            await self._route(scope)(scope, protocol)
        except RefusedError as error:
            metrics.REFUSED.labels(error.reason).inc()
            body = {"error": type(error).__name__, "detail": error.detail, "path": error.path}
            headers = _JSON + list(error.headers)
            protocol.response_bytes(error.status, headers, msgspec.json.encode(body))

    def _route(self, scope: Scope) -> Route:
        route = self._routes.get((scope.method, scope.path))
        if route is not None:
            return route
        allowed = [method for method, path in self._routes if path == scope.path]
        if allowed:
            raise WrongMethodError(f"{scope.path} takes {allowed[0]}")
        known = ", ".join(path for _, path in self._routes)
        raise NotFoundError(f"no such path; there are {known}")

    async def _post_lineage(self, scope: Scope, protocol: Http) -> None:
        limits.check_token(scope, self._token)
        body = await self._read(scope, protocol, self._limits.max_body_bytes)
        if (told := scope.headers.get(_TOO_LARGE)) is not None:
            await self._refuse_cut(told, body, _origin(scope))
        if (number := _requeued(scope)) is not None:
            # Refused again, it is not kept, nor counted as another error, a second time.
            event = events.parse(body, self._limits)
        else:
            event = await self._parse(body, _origin(scope))
        await self._landing.land([event], _origin(scope), requeued=number)
        protocol.response_empty(201, _parting(scope))

    async def _refuse_cut(self, told: str, body: bytes, origin: str) -> None:
        """Keep the head of an event that one of our readers could not send whole.

        Raises:
            InvalidEventError: always.
        """
        detail = f"$: {told[:_TOLD_CHARACTERS]}: larger than an event may be; its head is kept"
        error = InvalidEventError(detail, path="$", reason="too_large")
        await self._landing.reject(error, body, origin)
        raise error

    async def _post_batch(self, scope: Scope, protocol: Http) -> None:
        limits.check_token(scope, self._token)
        body = await self._read(scope, protocol, self._limits.max_inflated_bytes)
        taken, failures = await self._parse_each(_split(body), _origin(scope))
        if taken:
            await self._landing.land(taken, _origin(scope))
        if not failures:
            protocol.response_empty(204, [])
            return
        protocol.response_bytes(200, _JSON, _partial(len(taken), failures))

    async def _read(self, scope: Scope, protocol: Http, max_bytes: int) -> bytes:
        return await limits.read(
            scope,
            protocol,
            max_bytes=max_bytes,
            max_inflated_bytes=self._limits.max_inflated_bytes,
            deadlines=self._deadlines,
        )

    async def _parse(self, body: bytes, origin: str) -> events.Event:
        try:
            return events.parse(body, self._limits)
        except InvalidEventError as error:
            await self._landing.reject(error, body, origin)
            raise

    async def _parse_each(
        self, bodies: list[msgspec.Raw], origin: str
    ) -> tuple[list[events.Event], list[Failure]]:
        taken: list[events.Event] = []
        failures: list[Failure] = []
        for index, body in enumerate(bodies):
            try:
                taken.append(await self._parse(bytes(body), origin))
            except InvalidEventError as error:
                metrics.REFUSED.labels(error.reason).inc()
                failures.append(Failure(index, error.detail))
            if index % 100 == 0:
                await asyncio.sleep(0)  # a large batch must not make the others wait
        return taken, failures

    async def _get_livez(self, _scope: Scope, protocol: Http) -> None:
        protocol.response_str(200, [], "alive\n")

    async def _get_readyz(self, _scope: Scope, protocol: Http) -> None:
        """Ready is: a commit works now."""
        await self._landing.land([], origins.HTTP)
        protocol.response_str(200, [], "ready\n")

    async def _get_metrics(self, _scope: Scope, protocol: Http) -> None:
        text = generate_latest(metrics.REGISTRY)
        protocol.response_bytes(200, [("content-type", CONTENT_TYPE_LATEST)], text)


def _parting(scope: Scope) -> list[tuple[str, str]]:
    """What Spark's listener is told after each event: to take a new connection for the next.

    Its client would send that on the old one, and gives an event up that a dead connection
    swallowed: a worker killed while nothing is in flight would cost one. A new connection waits.
    """
    agent = scope.headers.get("user-agent") or ""
    return [("connection", "close")] if agent.startswith("Apache-HttpClient/") else []


def _origin(scope: Scope) -> str:
    given = scope.headers.get("lineward-origin")
    if given not in _ORIGINS:
        known = ", ".join(_GIVEN)
        detail = f"Lineward-Origin {str(given)[:80]!r}: expected {known}, or no such header"
        raise RefusedError(detail, reason="origin")
    return _ORIGINS[given]


def _requeued(scope: Scope) -> int | None:
    given = scope.headers.get(_REQUEUED)
    if given is None:
        return None
    if not (given.isascii() and given.isdecimal() and len(given) <= _MOST_DIGITS):
        detail = f"Lineward-Requeued {given[:80]!r}: expected the number of a refused body"
        raise RefusedError(detail, reason="origin")
    return int(given)


def _split(body: bytes) -> list[msgspec.Raw]:
    try:
        return _raw_list.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        detail = f"$: expected a JSON array of events: {error}"
        raise RefusedError(detail, path="$", reason="not_json") from error


def _partial(taken: int, failures: list[Failure]) -> bytes:
    summary = {
        "received": taken + len(failures),
        "successful": taken,
        "failed": len(failures),
        "retriable": 0,
        "non_retriable": len(failures),
    }
    status = "partial_success" if taken else "failure"
    return msgspec.json.encode({"status": status, "summary": summary, "failed_events": failures})
