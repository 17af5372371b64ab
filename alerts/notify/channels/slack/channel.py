"""Slack as a type of channel: one message for each incident, edited as the incident changes."""

from pathlib import Path
from typing import ClassVar, Self

import msgspec

from alerts.notify.channels.channel import ChannelTask, Contact, DeliveryOutcome
from alerts.notify.settings import DeliverySettings
from lineage.process.clock import Clock


class Slack(msgspec.Struct, frozen=True, kw_only=True):
    """Workspace. The token is read for each message, so that a new one needs no restart."""

    url: str
    token_file: Path
    timeout_seconds: int

    kind: ClassVar[str] = "slack"
    can_page: ClassVar[bool] = False
    can_edit: ClassVar[bool] = True
    required_settings: ClassVar[tuple[str, ...]] = ("LINEWARD_DELIVERY_SLACK_TOKEN_FILE",)

    @staticmethod
    def channels_of(contact: Contact) -> tuple[str, ...]:
        """Return the Slack channel of a contact."""
        return (f"slack:{contact.slack}",) if contact.slack else ()

    @classmethod
    def from_settings(cls, settings: DeliverySettings, _clock: Clock) -> Self | None:
        """Return the workspace of the token; None: no token is set."""
        if settings.slack_token_file is None:
            return None
        return cls(
            url=settings.slack_url,
            token_file=settings.slack_token_file,
            timeout_seconds=settings.timeout_seconds,
        )

    @staticmethod
    def secret_files(settings: DeliverySettings, _target: str) -> tuple[Path, ...]:
        """Return the file of the token, which all its channels share."""
        return () if settings.slack_token_file is None else (settings.slack_token_file,)

    def send(self, task: ChannelTask) -> DeliveryOutcome:
        """Post the incident's message, or edit it and reply in its thread."""
        from alerts.notify.channels.slack.delivery import deliver_to_slack  # noqa: PLC0415 - slack_sdk

        return deliver_to_slack(self.url, self.token_file, self.timeout_seconds, task)
