"""HTTP interface of the collector: two routes for events, three for its own state."""

from collections.abc import Awaitable, Callable

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from collector import batch, limits, metrics
from collector.admission import Admission, SenderHeaders, cut_report
from collector.commits import SpoolCommits
from collector.deadlines import Deadlines
from collector.errors import (
    CheckFailedError,
    EndingError,
    InvalidEventError,
    NotFoundError,
    RejectedRequestError,
    TooLargeError,
    TooManyError,
    WrongMethodError,
)
from collector.in_flight import InFlight, Reservation
from collector.parser import EventParser
from collector.rsgi import ClosingRequest, Http, Scope
from collector.settings import Limits
from collector.writes import Rejected
from lineage import origins

_Ask = Callable[[Scope, Http], Awaitable[None]]
_Take = Callable[[Scope, Http, SenderHeaders, Reservation], Awaitable[None]]

_JSON = [("content-type", "application/json")]


class App:
    """RSGI application over one `SpoolCommits`."""

    def __init__(
        self, commits: SpoolCommits, given: Limits, admission: Admission, deadlines: Deadlines
    ) -> None:
        self._commits = commits
        self._limits = given
        self._admission = admission
        self._deadlines = deadlines
        self._parser = EventParser(given)
        self._in_flight = InFlight(given.max_in_flight_bytes)
        metrics.IN_FLIGHT.set_function(lambda: self._in_flight.bytes)
        self._is_draining = False
        self._taking: dict[tuple[str, str], _Take] = {
            ("POST", "/api/v1/lineage"): self._post_lineage,
            ("POST", "/api/v1/lineage/batch"): self._post_batch,
        }
        self._asking: dict[tuple[str, str], _Ask] = {
            ("GET", "/livez"): self._get_livez,
            ("GET", "/readyz"): self._get_readyz,
            ("GET", "/metrics"): self._get_metrics,
        }

    def drain(self) -> None:
        """Be not ready from now on, and close each connection with its next answer.

        Senders then connect elsewhere before the port closes: a connection that is kept open would
        be cut while its next event is on the way.
        """
        self._is_draining = True

    async def __rsgi__(self, scope: Scope, protocol: Http) -> None:
        """Answer one request; every rejection becomes its status here."""
        if self._is_draining or _is_listener(scope):
            protocol = ClosingRequest(protocol)
        try:
            self._admission.check_address(scope)
            path = _path(scope)
            take = self._taking.get((scope.method, path))
            sender = None if take is None else self._admission.check_sender(scope)
            ask = None if take is not None else self._route(scope.method, path)
        except RejectedRequestError as error:
            await limits.drop(scope, protocol, error, self._deadlines)
            _reject(protocol, error)
            return
        try:
            if take is not None and sender is not None:
                with self._in_flight.reserve() as held:
                    await take(scope, protocol, sender, held)
            elif ask is not None:
                await ask(scope, protocol)
        except RejectedRequestError as error:
            _reject(protocol, error)

    def _route(self, method: str, path: str) -> _Ask:
        route = self._asking.get((method, path))
        if route is not None:
            return route
        known = (*self._taking, *self._asking)
        allowed = [each for each, one in known if one == path]
        if allowed:
            raise WrongMethodError(f"{path} takes {allowed[0]}")
        paths = ", ".join(one for _, one in known)
        raise NotFoundError(f"no such path; available: {paths}")

    async def _post_lineage(
        self, scope: Scope, protocol: Http, sender: SenderHeaders, held: Reservation
    ) -> None:
        body = await self._read(scope, protocol, sender, held, self._limits.max_body_bytes)
        if sender.too_large is not None:
            await self._reject_head(sender.too_large, body, sender)
        # Rejected again, it is not kept, nor counted as another error, a second time.
        keeps = sender.requeued is None
        with_reasons = (InvalidEventError, TooManyError) if keeps else ()
        try:
            event = await self._parser.parse(body)
        except with_reasons as error:
            await self._keep(error, body, sender)
            raise
        await self._commits.store([event], sender.origin, requeued=sender.requeued)
        protocol.response_empty(201, [])

    async def _reject_head(self, too_large: str, body: bytes, sender: SenderHeaders) -> None:
        """Keep the head of an event that one of our senders could not send whole.

        Raises:
            InvalidEventError: always.
        """
        report = cut_report(too_large)
        detail = f"$: {report}: larger than the maximum size of an event; its head is stored"
        error = InvalidEventError(detail, path="$", reason="too_large")
        await self._keep(error, body, sender)
        raise error

    async def _post_batch(
        self, scope: Scope, protocol: Http, sender: SenderHeaders, held: Reservation
    ) -> None:
        body = await self._read(scope, protocol, sender, held, self._limits.max_inflated_bytes)
        try:
            bodies = await batch.split(body, self._parser)
        except CheckFailedError:
            raise
        except RejectedRequestError as error:
            head, size = body[: self._limits.max_rejected_bytes], len(body)
            del body  # what waits for the commit is the head alone
            held.give_back()
            await self._keep(error, head, sender, size)
            raise
        held.add(len(body))  # each event is a copy of its part
        judged = await batch.judge(bodies, self._parser, sender.origin, protocol)
        if judged.taken or judged.rejected:
            await self._commits.store(judged.taken, sender.origin, rejected=judged.rejected)
        if judged.failures:
            protocol.response_bytes(200, _JSON, judged.answer())
        else:
            protocol.response_empty(204, [])

    async def _read(
        self, scope: Scope, protocol: Http, sender: SenderHeaders, held: Reservation, max_bytes: int
    ) -> bytes:
        most = self._limits
        within = limits.BodyLimits(max_bytes, most.max_inflated_bytes, most.max_rejected_bytes)
        try:
            return await limits.read(scope, protocol, within, held=held, deadlines=self._deadlines)
        except TooLargeError as error:
            await self._keep(error, error.head, sender, error.body_bytes)
            raise

    async def _keep(
        self,
        error: RejectedRequestError,
        body: bytes,
        sender: SenderHeaders,
        body_bytes: int | None = None,
    ) -> None:
        """Keep a rejected body; our own senders send the head of one over a bound by themselves."""
        if sender.is_own_sender and error.status != InvalidEventError.status:
            return
        size = len(body) if body_bytes is None else body_bytes
        rejected = Rejected.of(error, body, sender.origin, size)
        await self._commits.store([], sender.origin, rejected=[rejected])

    async def _get_livez(self, _scope: Scope, protocol: Http) -> None:
        protocol.response_str(200, [], "alive\n")

    async def _get_readyz(self, _scope: Scope, protocol: Http) -> None:
        """Ready is: a commit works now, and this process does not end."""
        if self._is_draining:
            raise EndingError("the collector is shutting down: connect to another one")
        await self._commits.store([], origins.HTTP)
        protocol.response_str(200, [], "ready\n")

    async def _get_metrics(self, _scope: Scope, protocol: Http) -> None:
        text = generate_latest(metrics.REGISTRY)
        protocol.response_bytes(200, [("content-type", CONTENT_TYPE_LATEST)], text)


def _path(scope: Scope) -> str:
    """Return the path without double and trailing slashes, which clients add to URLs."""
    return "/" + "/".join(filter(None, scope.path.split("/")))


def _is_listener(scope: Scope) -> bool:
    """Return whether Spark's listener sends: it takes a new connection for each event.

    Its client would send the next one on the old connection, and gives an event up that a dead
    connection swallowed: a worker killed while nothing is in flight would cost one. A new
    connection waits.
    """
    return (scope.headers.get("user-agent") or "").startswith("Apache-HttpClient/")


def _reject(protocol: Http, error: RejectedRequestError) -> None:
    metrics.REJECTED.labels(error.reason).inc()
    body = {"error": type(error).__name__, "detail": error.detail, "path": error.path}
    headers = _JSON + list(error.headers)
    protocol.response_bytes(error.status, headers, msgspec.json.encode(body))
