"""What is asked of a channel, and what it may answer."""

from pathlib import Path
from typing import Final, Protocol

import msgspec

from alerts.notify.message import Message

_MAX_ERROR_CHARACTERS = 300
_TOO_MANY: Final = 429
_SERVER_ERROR: Final = 500
_RETRYABLE: Final = frozenset({408, 425})


class ChannelName(msgspec.Struct, frozen=True):
    """One way to some people: `slack:C0123`, `pagerduty:keys/payments`, `webhook:tickets`."""

    kind: str
    target: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.target}"


def parse_channel(name: str) -> ChannelName:
    """The channel of this name.

    Raises:
        ValueError: there is no colon in it, or nothing on one of its sides.
    """
    kind, _, target = name.partition(":")
    if not kind or not target:
        raise ValueError(f"channel: expected kind:target as in slack:C0123, got {name[:80]!r}")
    return ChannelName(kind, target)


class Task(msgspec.Struct, frozen=True):
    """One message to be sent.

    Attributes:
        handle: how the provider knows what was sent of this incident before; None: nothing was.
        doubt_since: from then on, in µs, an attempt may have arrived unnoticed; None: none has.
    """

    message: Message
    target: str
    handle: str | None = None
    doubt_since: int | None = None


class Sent(msgspec.Struct, frozen=True):
    """The provider took it. `is_repeat`: perhaps for the second time, which it could not tell."""

    handle: str | None = None
    is_repeat: bool = False


class Retryable(msgspec.Struct, frozen=True):
    """Not now: to be tried again. `is_in_doubt`: it may have been taken nevertheless."""

    reason: str
    error: str = ""
    retry_after_seconds: float = 0.0
    is_in_doubt: bool = False


class PermanentFailure(msgspec.Struct, frozen=True):
    """Never, as it is: trying again would be answered alike."""

    reason: str
    error: str = ""


Outcome = Sent | Retryable | PermanentFailure


class Channel(Protocol):
    """A kind of channel."""

    def send(self, task: Task) -> Outcome:
        """Try once, for a bounded time; what goes wrong is the outcome."""


def from_status(status: int, said: str, retry_after: str | None) -> Retryable | PermanentFailure:
    """Of an HTTP answer that is no success: what passes, and what would be answered alike.

    Args:
        status: of the answer.
        said: its text, cut.
        retry_after: the header of that name.
    """
    if status == _TOO_MANY:
        return Retryable("rate_limited", said, parse_retry_after(retry_after))
    if status >= _SERVER_ERROR or status in _RETRYABLE:
        return Retryable(f"http_{status}", said, is_in_doubt=True)
    return PermanentFailure(f"http_{status}", said)


def from_transport_error(
    cause: BaseException | str | None, *secrets: str, is_unsent: bool, is_late: bool
) -> Retryable:
    """Of no answer at all: what was sent may have arrived.

    Args:
        cause: why there is none.
        secrets: that its text may hold.
        is_unsent: there was no connection, so that nothing arrived.
        is_late: it was waited for, for as long as is set.
    """
    said = cut_error(f"{type(cause).__name__}: {cause}", *secrets)
    if is_unsent:
        return Retryable("unreachable", said)
    return Retryable("timeout" if is_late else "unreachable", said, is_in_doubt=True)


def cut_error(text: str, *secrets: str) -> str:
    """What went wrong, short and without our secrets, however they got into the answer."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    return text[:_MAX_ERROR_CHARACTERS]


def parse_retry_after(header: str | None) -> float:
    """Of a Retry-After in seconds; 0 for none, or for a date, which neither provider sends."""
    try:
        return max(0.0, min(float(header or 0), 86_400.0))
    except ValueError:
        return 0.0


class MissingSecretError(ValueError):
    """The file cannot be read, or holds nothing."""


def read_secret(path: Path) -> str:
    """What the file holds, without the space around it.

    Raises:
        NoSecretError: names the file.
    """
    try:
        secret = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise MissingSecretError(f"{path}: cannot be read ({type(error).__name__})") from error
    if not secret:
        raise MissingSecretError(f"{path}: is empty; write the secret into it")
    return secret
