"""Protocol of a type of channel, the messages it is given, and the outcomes it reports."""

from pathlib import Path
from typing import ClassVar, Final, Protocol, Self

import msgspec

from alerts.notify.message import Message
from alerts.notify.settings import DeliverySettings
from lineage.policy.model import EscalationStep, Owner
from lineage.process.clock import Clock

_MAX_ERROR_CHARACTERS: Final = 300
_TOO_MANY: Final = 429
_SERVER_ERROR: Final = 500
RETRYABLE_STATUSES: Final = frozenset({408, 425})

Contact = Owner | EscalationStep


class ChannelTask(msgspec.Struct, frozen=True):
    """Message to send to one channel.

    Attributes:
        handle: the provider's id of what was sent of this incident before; None: nothing was.
        doubt_since: an attempt since then, in µs, may have arrived unnoticed; None: none has.
    """

    message: Message
    target: str
    handle: str | None = None
    doubt_since: int | None = None


class Sent(msgspec.Struct, frozen=True):
    """Success: the provider accepted it. `is_repeat`: perhaps for the second time."""

    handle: str | None = None
    is_repeat: bool = False


class Retryable(msgspec.Struct, frozen=True):
    """Failure that may pass. `is_in_doubt`: the provider may have accepted it nevertheless."""

    reason: str
    error: str = ""
    retry_after_seconds: float = 0.0
    is_in_doubt: bool = False


class PermanentFailure(msgspec.Struct, frozen=True):
    """Failure that a retry would repeat. `is_of_kind`: all channels of this type fail alike."""

    reason: str
    error: str = ""
    is_of_kind: bool = False


DeliveryOutcome = Sent | Retryable | PermanentFailure


class Deliverer(Protocol):
    """Part of a channel that the sender uses."""

    def send(self, task: ChannelTask) -> DeliveryOutcome:
        """Try once, for a bounded time; an error is an outcome."""


class Channel(Deliverer, Protocol):
    """Type of channel. Libraries of its provider are imported when it first sends.

    Attributes:
        kind: what the names of its channels begin with.
        can_page: it pages a person; triggers, acknowledgements and resolves are sent to it.
        can_edit: it shows one message for each incident; only the newest state is sent to it.
        required_settings: environment variables without which it is not configured.
    """

    kind: ClassVar[str]
    can_page: ClassVar[bool]
    can_edit: ClassVar[bool]
    required_settings: ClassVar[tuple[str, ...]]

    @staticmethod
    def channels_of(contact: Contact) -> tuple[str, ...]:
        """Return the names of the channels of this type that the policy gives a contact."""

    @classmethod
    def from_settings(cls, settings: DeliverySettings, clock: Clock) -> Self | None:
        """Return the type as the operator configured it; None: it is not configured."""

    @staticmethod
    def secret_files(settings: DeliverySettings, target: str) -> tuple[Path, ...]:
        """Return the files with the secrets of a channel."""


def from_status(status: int, text: str, retry_after: str | None) -> Retryable | PermanentFailure:
    """Return the outcome of an HTTP status that is an error.

    Args:
        status: of the answer.
        text: its text, cut.
        retry_after: the header of that name.
    """
    if status == _TOO_MANY:
        return Retryable("rate_limited", text, parse_retry_after(retry_after))
    if status >= _SERVER_ERROR or status in RETRYABLE_STATUSES:
        return Retryable(f"http_{status}", text, is_in_doubt=True)
    return PermanentFailure(f"http_{status}", text)


def from_transport_error(
    cause: BaseException | str | None, *secrets: str, is_unsent: bool, is_late: bool
) -> Retryable:
    """Return the outcome of a request without a response: it may have arrived.

    Args:
        cause: why there is none.
        secrets: that its text may hold.
        is_unsent: there was no connection, so that nothing arrived.
        is_late: it was waited for, for as long as is set.
    """
    text = cut_error(f"{type(cause).__name__}: {cause}", *secrets)
    if is_unsent:
        return Retryable("unreachable", text)
    return Retryable("timeout" if is_late else "unreachable", text, is_in_doubt=True)


def cut_error(text: str, *secrets: str) -> str:
    """Return an error text, short and with `***` in place of secrets."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    return text[:_MAX_ERROR_CHARACTERS]


def parse_retry_after(header: str | None) -> float:
    """Return the seconds of a Retry-After header; 0: there is none, or it is a date."""
    try:
        return max(0.0, min(float(header or 0), 86_400.0))
    except ValueError:
        return 0.0


class MissingSecretError(ValueError):
    """File that cannot be read or is empty."""


def read_secret_file(path: Path) -> str:
    """Return the content of a file without surrounding white space.

    Raises:
        MissingSecretError: names the file.
    """
    try:
        secret = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise MissingSecretError(f"{path}: cannot be read ({type(error).__name__})") from error
    if not secret:
        raise MissingSecretError(f"{path}: is empty; write the secret into it")
    return secret
