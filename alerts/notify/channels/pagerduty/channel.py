"""PagerDuty as a type of channel: one alert for each incident, by its dedup_key."""

from pathlib import Path
from typing import ClassVar, Final, Self

import msgspec

from alerts.notify.channels.channel import ChannelTask, Contact, DeliveryOutcome
from alerts.notify.settings import DeliverySettings
from lineage.process.clock import Clock

_US: Final = "https://events.pagerduty.com"


class PagerDuty(msgspec.Struct, frozen=True, kw_only=True):
    """Events API v2. A target is the file of a routing key, relative to the folder `keys`."""

    url: str
    keys: Path
    timeout_seconds: int
    ca_file: Path | None = None

    kind: ClassVar[str] = "pagerduty"
    can_page: ClassVar[bool] = True
    can_edit: ClassVar[bool] = False
    required_settings: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def channels_of(contact: Contact) -> tuple[str, ...]:
        """Return the service that the routing key of a contact pages."""
        key_file = contact.pagerduty_key_file
        return (f"pagerduty:{key_file}",) if key_file else ()

    @classmethod
    def from_settings(cls, settings: DeliverySettings, _clock: Clock) -> Self | None:
        """Return PagerDuty. It needs no setting: each owner has a file with a key."""
        return cls(
            url=settings.pagerduty_url or _US,
            keys=settings.pagerduty_keys,
            timeout_seconds=settings.timeout_seconds,
            ca_file=settings.pagerduty_ca_file,
        )

    @staticmethod
    def secret_files(settings: DeliverySettings, target: str) -> tuple[Path, ...]:
        """Return the file of the routing key."""
        return (settings.pagerduty_keys / target,)

    def send(self, task: ChannelTask) -> DeliveryOutcome:
        """Trigger, acknowledge or resolve the incident's alert."""
        from alerts.notify.channels.pagerduty.delivery import deliver_to_pagerduty  # noqa: PLC0415 - httpx2

        return deliver_to_pagerduty(
            task, self.keys / task.target, self.url, self.timeout_seconds, self.ca_file
        )
