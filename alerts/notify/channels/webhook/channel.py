"""Signed webhook as a type of channel: every state of every ticket, for a system of tickets."""

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from alerts.notify.channels.channel import ChannelTask, Contact, DeliveryOutcome, PermanentFailure
from alerts.notify.settings import TICKETS, DeliverySettings
from lineage.process.clock import Clock

if TYPE_CHECKING:
    from alerts.notify.channels.webhook.delivery import WebhookClient


class Webhook:
    """Webhook `tickets`, which receives the tickets of all owners."""

    kind: ClassVar[str] = "webhook"
    can_page: ClassVar[bool] = False
    can_edit: ClassVar[bool] = False
    required_settings: ClassVar[tuple[str, ...]] = (
        "LINEWARD_DELIVERY_WEBHOOK_URL",
        "LINEWARD_DELIVERY_WEBHOOK_SECRET_FILE",
    )

    def __init__(self, url: str, secret_file: Path, timeout_seconds: int, clock: Clock) -> None:
        self._given = (url, secret_file, timeout_seconds)
        self._clock = clock
        self._client: WebhookClient | None = None

    @staticmethod
    def channels_of(_contact: Contact) -> tuple[str, ...]:
        """Return nothing: the webhook is not one contact's."""
        return ()

    @classmethod
    def from_settings(cls, settings: DeliverySettings, clock: Clock) -> Self | None:
        """Return the webhook; None: its URL or its secret is not set."""
        if settings.webhook_url is None or settings.webhook_secret_file is None:
            return None
        return cls(
            settings.webhook_url, settings.webhook_secret_file, settings.timeout_seconds, clock
        )

    @staticmethod
    def secret_files(settings: DeliverySettings, _target: str) -> tuple[Path, ...]:
        """Return the file of the signing secret."""
        return () if settings.webhook_secret_file is None else (settings.webhook_secret_file,)

    def send(self, task: ChannelTask) -> DeliveryOutcome:
        """Post the whole message as JSON."""
        from alerts.notify.channels.webhook.delivery import WebhookClient  # noqa: PLC0415 - httpx

        if f"{self.kind}:{task.target}" != TICKETS:
            reason = f"no webhook named {task.target[:80]!r} is set"
            return PermanentFailure("unknown_webhook", reason, is_of_kind=True)
        if self._client is None:
            self._client = WebhookClient(*self._given)
        return self._client.deliver(task, int(self._clock().timestamp()))
