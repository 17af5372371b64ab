"""Client of a collector: repeats a request until the collector accepts or rejects its events.

The rejection of a request itself (a wrong token, another server's 404) is repeated too.
"""

import gzip
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event

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

from collector.sender_secret import HEADER, read_sender_secret
from lineage.process.environment import InvalidSettingError
from service.errors import RejectedInputError

_ERRNO = re.compile(r"^\[Errno -?\d+\] ")
_MAX_PLAIN_BYTES = 1_048_576
_LONGEST_PAUSE_SECONDS = 5.0


class UnansweredError(Exception):
    """Error: the collector neither accepted nor rejected the events in time; the text says why."""


class UploadStoppedError(Exception):
    """Error: the process was asked to end before the collector answered."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """Address of a collector, and the origin and secrets that requests carry.

    Attributes:
        url: of the collector, without a path.
        origin: what the events are marked with (`Lineward-Origin`).
        token_file: holds the bearer token; read again for each try, so that it can be replaced.
        secret_file: holds the secret of Lineward's own senders, without which the collector ignores
            the origin; read again for each try. None: the origin needs none.
    """

    url: str
    origin: str
    token_file: Path | None = None
    secret_file: Path | None = None


class CollectorClient:
    """Client of one collector, with a limit on retries; one caller at a time."""

    def __init__(
        self,
        target: Target,
        *,
        give_up_seconds: float | None = None,
        stopping: Event | None = None,
        on_trouble: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Create a client without sending anything.

        Args:
            target: collector, origin and secrets.
            give_up_seconds: how long to try; None: without end.
            stopping: ends the retries when set.
            on_trouble: receives each error that differs from the one before.
        """
        self._target = target
        self._client = httpx.Client(timeout=30.0, trust_env=False)
        self._give_up_seconds = give_up_seconds
        self._stopping = stopping or Event()
        self._on_trouble = on_trouble
        self._trouble = ""

    def is_there(self) -> bool:
        """Return whether a server listens at the address."""
        try:
            self._client.get(f"{self._target.url}/livez")
        except httpx.TransportError:
            return False
        return True

    def go_on(self) -> None:
        """Check that the process was not asked to end.

        Raises:
            UploadStoppedError: it was.
        """
        if self._stopping.is_set():
            raise UploadStoppedError

    def answered(
        self, path: str, body: bytes, more: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """Return the answer that accepts or rejects this body.

        Args:
            path: of the URL.
            body: is sent, as gzip where it is large.
            more: headers.

        Raises:
            UnansweredError: the time for retries is over.
            UploadStoppedError: the process was asked to end.
            RejectedInputError: the token is missing or wrong, and the time for retries is limited.
        """
        give_up = self._give_up_seconds
        retrying = Retrying(
            retry=retry_if_exception_type((httpx.TransportError, _NotNowError)),
            wait=wait_random_exponential(multiplier=0.2, max=_LONGEST_PAUSE_SECONDS),
            stop=stop_never if give_up is None else stop_after_delay(give_up),
            before_sleep=self._report,
            sleep=self._pause,
            reraise=True,
        )
        try:
            answer = retrying(self._once, path, body, more or {})
        except (httpx.TransportError, _NotNowError) as error:
            raise UnansweredError(_words(error)) from error
        self._trouble = ""
        return answer

    def _once(self, path: str, body: bytes, more: Mapping[str, str]) -> httpx.Response:
        headers = {**self._headers(), **more}
        if len(body) > _MAX_PLAIN_BYTES:
            # As sent, a single event may be a tenth of what it may be inflated.
            body, headers["Content-Encoding"] = gzip.compress(body, compresslevel=1), "gzip"
        answer = self._client.post(f"{self._target.url}{path}", content=body, headers=headers)
        if answer.status_code == httpx.codes.UNAUTHORIZED and self._give_up_seconds is not None:
            # Of all events, not of these; a person is there to fix it.
            raise RejectedInputError(f"{self._target.url}: {detail_of(answer)}")
        if not _is_verdict(answer):
            raise _NotNowError(f"{answer.status_code}: {detail_of(answer)}")
        return answer

    def _headers(self) -> dict[str, str]:
        headers = {"Lineward-Origin": self._target.origin, "Content-Type": "application/json"}
        if self._target.token_file is not None:
            try:
                headers["Authorization"] = f"Bearer {read_token_file(self._target.token_file)}"
            except RejectedInputError as error:  # it may be about to be replaced
                raise _NotNowError(str(error)) from error
        if self._target.secret_file is not None:
            headers[HEADER] = _secret_in(self._target.secret_file)
        return headers

    def _report(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        trouble = _words(error) if error else ""
        if trouble != self._trouble:
            self._trouble = trouble
            self._on_trouble(trouble)

    def _pause(self, seconds: float) -> None:
        if self._stopping.wait(seconds):
            raise UploadStoppedError


class _NotNowError(Exception):
    """Error: the answer neither accepts nor rejects the events."""


def _is_verdict(answer: httpx.Response) -> bool:
    """Return whether the answer accepts or rejects the events for good.

    The rejection of a request itself (a wrong token, another server's 404) does neither.
    """
    if answer.is_success or answer.status_code == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
        return True
    return answer.status_code == httpx.codes.BAD_REQUEST and _json(answer).get("path") is not None


def read_token_file(file: Path) -> str:
    """Return the bearer token in the file.

    Raises:
        RejectedInputError: it cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        message = f"the token's file cannot be read: {error}"
        raise RejectedInputError(message) from error


def _secret_in(file: Path) -> str:
    """Return the secret; the collector rejects an empty one and names the missing setting."""
    try:
        return read_sender_secret(file).decode("ascii")
    except (OSError, InvalidSettingError):
        return ""


def _json(answer: httpx.Response) -> dict[str, object]:
    try:
        found = answer.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def detail_of(answer: httpx.Response) -> str:
    """Return the message of the answer, or its status."""
    return str(_json(answer).get("detail", f"HTTP {answer.status_code}"))


def _words(error: BaseException) -> str:
    return _ERRNO.sub("", str(error)) or type(error).__name__
