"""Sends recorded events to the collector: history, unless they are told to be of another origin."""

from collections.abc import Iterable, Iterator

import httpx
import msgspec
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_random_exponential

from lineage import origins
from service.errors import NotRunningError, RefusedInputError
from service.history import Recorded
from service.settings import Settings

_MAX_EVENTS = 500
_MAX_BYTES = 4_194_304
_RETRY_SECONDS = 60.0
_MOST_LISTED = 100
_BUSY = (httpx.codes.SERVICE_UNAVAILABLE, httpx.codes.REQUEST_TIMEOUT)


class Refusal(msgspec.Struct, frozen=True):
    """An event that was not taken."""

    file: str
    position: int
    reason: str


class Report(msgspec.Struct):
    """What became of the events; an event that was there already counts as taken."""

    taken: int = 0
    refused: int = 0
    refusals: list[Refusal] = msgspec.field(default_factory=list)
    partial: bool = False
    partial_reason: str | None = None

    def refuse(self, event: Recorded, reason: str) -> None:
        """Count it, and list it while the list is short."""
        self.refused += 1
        if len(self.refusals) < _MOST_LISTED:
            self.refusals.append(Refusal(str(event.file), event.position, reason))
        else:
            self.partial = True
            self.partial_reason = f"only the first {_MOST_LISTED} refusals are listed"


class Sender:
    """Posts batches to one collector, and tries again while it is busy or being restarted."""

    def __init__(
        self,
        settings: Settings,
        *,
        origin: str = origins.HISTORY,
        retry_seconds: float = _RETRY_SECONDS,
    ) -> None:
        self.settings = settings
        self._url = f"http://{settings.host}:{settings.collector_port}"
        self._client = httpx.Client(
            headers=_headers(settings, origin), timeout=30.0, trust_env=False
        )
        self._retry_seconds = retry_seconds
        self.report = Report()

    def require_collector(self) -> None:
        """See that it is there before anything is read.

        Raises:
            NotRunningError: nobody listens at its address.
        """
        try:
            self._client.get(f"{self._url}/livez")
        except httpx.TransportError as error:
            raise self._not_running() from error

    def send(self, events: Iterable[Recorded]) -> Iterator[int]:
        """Send them all, in their order; yields how many each batch held.

        Raises:
            NotRunningError: the collector went away and did not come back in time.
            RefusedInputError: it asks for a token, or for another one.
        """
        for batch in batches(events):
            sound = [event for event in batch if event.problem is None]
            for event in batch:
                if event.problem is not None:
                    self.report.refuse(event, event.problem)
            if sound:
                self._post(sound)
            yield len(batch)

    def _post(self, batch: list[Recorded]) -> None:
        body = b"[" + b",".join(event.body for event in batch) + b"]"
        answer = self._answer(body)
        if answer.status_code == httpx.codes.OK:
            self._note_failures(batch, answer)
        elif answer.is_success:
            self.report.taken += len(batch)
        elif len(batch) > 1:
            # One event spoilt it for all: sent alone, each is answered for itself.
            for event in batch:
                self._post([event])
        else:
            self.report.refuse(batch[0], _detail(answer))

    def _note_failures(self, batch: list[Recorded], answer: httpx.Response) -> None:
        failures = answer.json().get("failed_events", [])
        self.report.taken += len(batch) - len(failures)
        for failure in failures:
            self.report.refuse(batch[failure["index"]], str(failure["reason"]))

    def _answer(self, body: bytes) -> httpx.Response:
        retrying = Retrying(
            retry=retry_if_exception_type((httpx.TransportError, _BusyError)),
            wait=wait_random_exponential(multiplier=0.2, max=5.0),
            stop=stop_after_delay(self._retry_seconds),
            reraise=True,
        )
        try:
            return retrying(self._once, body)
        except (httpx.TransportError, _BusyError) as error:
            raise self._not_running() from error

    def _once(self, body: bytes) -> httpx.Response:
        answer = self._client.post(f"{self._url}/api/v1/lineage/batch", content=body)
        if answer.status_code in _BUSY:
            raise _BusyError
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            # Of all events, not of these: none of them may be called refused.
            message = f"{self._url} asks for a token: set LINEWARD_COLLECTOR_TOKEN_FILE to its file"
            raise RefusedInputError(message)
        return answer

    def _not_running(self) -> NotRunningError:
        taken = f" {self.report.taken} events were taken." if self.report.taken else ""
        message = (
            f"the collector does not answer at {self._url}: start it with `lineward up`.{taken}"
            " Running the same command again repeats nothing."
        )
        return NotRunningError(message)


class _BusyError(Exception):
    """The collector asks to come again."""


def batches(events: Iterable[Recorded]) -> Iterator[list[Recorded]]:
    """The events in lots that one request may hold; a larger event goes alone."""
    lot: list[Recorded] = []
    lot_bytes = 0
    for event in events:
        if lot and (len(lot) >= _MAX_EVENTS or lot_bytes + len(event.body) > _MAX_BYTES):
            yield lot
            lot, lot_bytes = [], 0
        lot.append(event)
        lot_bytes += len(event.body)
    if lot:
        yield lot


def _headers(settings: Settings, origin: str) -> dict[str, str]:
    headers = {"Lineward-Origin": origin, "Content-Type": "application/json"}
    if settings.collector_token_file:
        token = settings.collector_token_file.read_text(encoding="utf-8").strip()
        headers["Authorization"] = f"Bearer {token}"
    return headers


def _detail(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"HTTP {answer.status_code}"
