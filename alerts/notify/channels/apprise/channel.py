"""E-mail, Microsoft Teams and the other services of Apprise as one type of channel.

A channel is a URL of Apprise in `notify` of the policy. `{NAME}` in it stands for the content of
the file NAME, so that no secret stands in the policy, in a metric or in a log.
"""

import re
from pathlib import Path
from typing import ClassVar, Final, Self

import msgspec

from alerts.notify.channels.channel import (
    ChannelTask,
    Contact,
    DeliveryOutcome,
    MissingSecretError,
    PermanentFailure,
    read_secret_file,
)
from alerts.notify.settings import DeliverySettings
from lineage.process.clock import Clock

_FILE: Final = re.compile(r"\{([^{}]+)\}")


class Apprise(msgspec.Struct, frozen=True):
    """Services of Apprise. Files of secrets are relative to the folder `keys`."""

    keys: Path
    timeout_seconds: int

    kind: ClassVar[str] = "apprise"
    can_page: ClassVar[bool] = False
    can_edit: ClassVar[bool] = False
    required_settings: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def channels_of(contact: Contact) -> tuple[str, ...]:
        """Return a channel for each URL of a contact."""
        return tuple(f"apprise:{url}" for url in contact.notify if "://" in url)

    @classmethod
    def from_settings(cls, settings: DeliverySettings, _clock: Clock) -> Self | None:
        """Return the services. They need no setting: the policy has their URLs."""
        return cls(settings.secrets_folder, settings.timeout_seconds)

    @staticmethod
    def secret_files(settings: DeliverySettings, target: str) -> tuple[Path, ...]:
        """Return the files that a URL names."""
        return tuple(settings.secrets_folder / name for name in _FILE.findall(target))

    def send(self, task: ChannelTask) -> DeliveryOutcome:
        """Send the message once."""
        try:
            secrets = {
                name: read_secret_file(self.keys / name) for name in _FILE.findall(task.target)
            }
        except MissingSecretError as error:
            return PermanentFailure("no_token", str(error))
        from alerts.notify.channels.apprise.delivery import deliver_to_apprise  # noqa: PLC0415 - 1 s

        url = _FILE.sub(lambda found: secrets[found[1]], task.target)
        return deliver_to_apprise(task, url, tuple(secrets.values()), self.timeout_seconds)
