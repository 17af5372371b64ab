"""Posts events to a collector, and comes again until each is answered for.

Whoever reads events from somewhere else (history, files, Kafka) hands them over here, and notes its
place only when `post` has returned: then each event is in the spool, or was refused for good.
"""

import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Protocol, TypeVar

import httpx
import msgspec
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_delay,
    stop_never,
    wait_random_exponential,
)

from service.errors import RefusedInputError

_MAX_EVENTS = 500
_MAX_BYTES = 4_194_304
_MAX_EVENT_BYTES = 10_485_760  # the collector's own bound, unless it is told otherwise
_MAX_PLAIN_BYTES = 1_048_576
_LONGEST_PAUSE_SECONDS = 5.0
_raw = msgspec.json.Decoder(msgspec.Raw)


class HasBody(Protocol):
    """An event to the byte, and whatever its reader needs to know of it."""

    @property
    def body(self) -> bytes:
        """One JSON value, or what should be one."""


_Held = TypeVar("_Held", bound=HasBody)


class Refused(msgspec.Struct, frozen=True):
    """An event that will never be taken.

    Attributes:
        index: of those that were posted together.
        is_kept: whether the collector keeps the body, with the reason.
    """

    index: int
    reason: str
    is_kept: bool = True


class UnansweredError(Exception):
    """The collector could not be had to say yes or no; how that showed is the text."""


class StoppedError(Exception):
    """The process was asked to end while the collector did not answer."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """Which collector, and as what.

    Attributes:
        url: of the collector, without a path.
        origin: what the events are marked with (`Lineward-Origin`).
        token_file: holds the bearer token; read anew for each try, so that it can be replaced.
    """

    url: str
    origin: str
    token_file: Path | None = None


class Poster:
    """Posts to one collector; one caller at a time."""

    def __init__(
        self,
        target: Target,
        *,
        give_up_seconds: float | None = None,
        stopping: Event | None = None,
        on_trouble: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Nothing is sent yet.

        Args:
            target: where to.
            give_up_seconds: how long to try; None: without end, whatever the collector says.
            stopping: ends the trying, when set.
            on_trouble: hears what is wrong, once for each thing in turn.
        """
        self._target = target
        self._client = httpx.Client(timeout=30.0, trust_env=False)
        self._give_up_seconds = give_up_seconds
        self._stopping = stopping or Event()
        self._on_trouble = on_trouble
        self._trouble = ""

    def is_there(self) -> bool:
        """Whether anybody listens at the address."""
        try:
            self._client.get(f"{self._target.url}/livez")
        except httpx.TransportError:
            return False
        return True

    def post(self, bodies: Sequence[bytes]) -> list[Refused]:
        """Hand events over; those that were refused. All others are durable when this returns.

        Raises:
            UnansweredError: it gave up. Nothing may be taken for sent; the same call again repeats
                nothing.
            StoppedError: it was asked to end; as above.
            RefusedInputError: it asks for a token, or for another one, and there is an end to its
                patience; as above.
        """
        if self._stopping.is_set():
            raise StoppedError
        refused = [Refused(n, _too_large(body), is_kept=False) for n, body in _large(bodies)]
        large = {one.index for one in refused}
        rest = [n for n in range(len(bodies)) if n not in large]
        # What is no JSON value would spoil the batch for all, or pass for two events.
        whole = [n for n in rest if is_json(bodies[n])]
        refused += self._post_together(bodies, whole)
        for n in sorted(set(rest) - set(whole)):
            refused += self._post_alone(bodies, n)
        return sorted(refused, key=lambda one: one.index)

    def _post_together(self, bodies: Sequence[bytes], places: list[int]) -> list[Refused]:
        if not places:
            return []
        body = b"[" + b",".join(bodies[n] for n in places) + b"]"
        answer = self._answered("/api/v1/lineage/batch", body)
        if answer.status_code == httpx.codes.OK:
            failures = answer.json().get("failed_events", [])
            return [Refused(places[one["index"]], str(one["reason"])) for one in failures]
        if answer.is_success:
            return []
        # One event spoilt it for all: sent alone, each is answered for itself.
        return [one for n in places for one in self._post_alone(bodies, n)]

    def _post_alone(self, bodies: Sequence[bytes], place: int) -> list[Refused]:
        answer = self._answered("/api/v1/lineage", bodies[place])
        if answer.is_success:
            return []
        is_kept = answer.status_code == httpx.codes.BAD_REQUEST
        return [Refused(place, _detail(answer), is_kept)]

    def _answered(self, path: str, body: bytes) -> httpx.Response:
        give_up = self._give_up_seconds
        retrying = Retrying(
            retry=retry_if_exception_type((httpx.TransportError, _NotNowError)),
            wait=wait_random_exponential(multiplier=0.2, max=_LONGEST_PAUSE_SECONDS),
            stop=stop_never if give_up is None else stop_after_delay(give_up),
            before_sleep=self._tell,
            sleep=self._pause,
            reraise=True,
        )
        try:
            answer = retrying(self._once, path, body)
        except (httpx.TransportError, _NotNowError) as error:
            raise UnansweredError(_words(error)) from error
        self._trouble = ""
        return answer

    def _once(self, path: str, body: bytes) -> httpx.Response:
        headers = self._headers()
        if len(body) > _MAX_PLAIN_BYTES:
            # As sent, a single event may be a tenth of what it may be inflated.
            body, headers["Content-Encoding"] = gzip.compress(body, compresslevel=1), "gzip"
        answer = self._client.post(f"{self._target.url}{path}", content=body, headers=headers)
        if answer.status_code == httpx.codes.UNAUTHORIZED and self._give_up_seconds is not None:
            # Of all events, not of these; a person is there to mend it.
            url = self._target.url
            message = f"{url} asks for a token: set LINEWARD_COLLECTOR_TOKEN_FILE to its file"
            raise RefusedInputError(message)
        if not _is_verdict(answer):
            raise _NotNowError(f"{answer.status_code}: {_detail(answer)}")
        return answer

    def _headers(self) -> dict[str, str]:
        headers = {"Lineward-Origin": self._target.origin, "Content-Type": "application/json"}
        if self._target.token_file is not None:
            try:
                headers["Authorization"] = f"Bearer {read_token(self._target.token_file)}"
            except RefusedInputError as error:  # it may be about to be replaced
                raise _NotNowError(str(error)) from error
        return headers

    def _tell(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        trouble = _words(error) if error else ""
        if trouble != self._trouble:
            self._trouble = trouble
            self._on_trouble(trouble)

    def _pause(self, seconds: float) -> None:
        if self._stopping.wait(seconds):
            raise StoppedError


class _NotNowError(Exception):
    """An answer that says nothing of the events."""


def _is_verdict(answer: httpx.Response) -> bool:
    """Whether the answer is of the events, and another try would be answered alike.

    A refusal of the request (a wrong token, another server's 404) is not of the events.
    """
    if answer.is_success or answer.status_code == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
        return True
    return answer.status_code == httpx.codes.BAD_REQUEST and _json(answer).get("path") is not None


def read_token(file: Path) -> str:
    """The bearer token in the file.

    Raises:
        RefusedInputError: it cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        message = f"the token's file cannot be read: {error}"
        raise RefusedInputError(message) from error


def is_json(body: bytes) -> bool:
    """Whether it is one whole JSON value."""
    try:
        _raw.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def lots(events: Iterable[_Held]) -> Iterator[list[_Held]]:
    """The events in lots that one request may hold; a larger event goes alone."""
    lot: list[_Held] = []
    lot_bytes = 0
    for event in events:
        if lot and (len(lot) >= _MAX_EVENTS or lot_bytes + len(event.body) > _MAX_BYTES):
            yield lot
            lot, lot_bytes = [], 0
        lot.append(event)
        lot_bytes += len(event.body)
    if lot:
        yield lot


def _large(bodies: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
    return ((n, body) for n, body in enumerate(bodies) if len(body) > _MAX_EVENT_BYTES)


def _too_large(body: bytes) -> str:
    return f"{len(body)} bytes: more than {_MAX_EVENT_BYTES}, not sent"


def _json(answer: httpx.Response) -> dict[str, object]:
    try:
        found = answer.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _detail(answer: httpx.Response) -> str:
    return str(_json(answer).get("detail", f"HTTP {answer.status_code}"))


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__
