"""What an operator may set of delivery; every default is safe."""

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from lineage import environment

SECTION = "DELIVERY_"

_Seconds = Annotated[int, Meta(ge=1, le=86_400)]


class DeliverySettings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from `LINEWARD_DELIVERY_` + field in capitals. A kind that is not set is not sent.

    Attributes:
        slack_token_file: holds a bot's token, scopes chat:write and channels:history.
        slack_signing_secret_file: holds the app's signing secret, by which buttons are believed.
        pagerduty_webhook_secret_file: holds the secret of PagerDuty's webhook subscription.
        pagerduty_keys: folder that the files of routing keys are relative to.
        pagerduty_ca_file: whom to trust beside nobody else, for a proxy of one's own.
        webhook_url: of the webhook named `tickets`.
        fallback: channel for what cannot be delivered, as `slack:C0123`.
        undelivered_seconds: after these the fallback channel is told as well.
        give_up_seconds: after these a message that nobody took is parked as failed.
    """

    slack_url: str = "https://slack.com/api/"
    slack_token_file: Path | None = None
    slack_signing_secret_file: Path | None = None
    pagerduty_url: str = "https://events.pagerduty.com"
    pagerduty_keys: Path = Path()
    pagerduty_ca_file: Path | None = None
    pagerduty_webhook_secret_file: Path | None = None
    webhook_url: str | None = None
    webhook_secret_file: Path | None = None
    fallback: str | None = None
    timeout_seconds: Annotated[int, Meta(ge=1, le=60)] = 10
    undelivered_seconds: _Seconds = 600
    give_up_seconds: _Seconds = 86_400
    first_wait_seconds: Annotated[int, Meta(ge=1, le=60)] = 5
    longest_wait_seconds: _Seconds = 300

    @property
    def lease_seconds(self) -> int:
        """How long an attempt may last: the calls that one message needs, and some."""
        return 5 * self.timeout_seconds


def read() -> DeliverySettings:
    """Settings of this process.

    Raises:
        InvalidSettingError: an unknown variable, or a value out of range.
    """
    return environment.read(DeliverySettings, section=SECTION)
