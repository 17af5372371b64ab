"""Settings of notifications: whom they are for (`ALERTS_`) and how they are sent (`DELIVERY_`)."""

from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from alerts.notify.channels.name import parse_channel
from lineage.process import environment

ALERTS_SECTION: Final = "ALERTS_"
DELIVERY_SECTION: Final = "DELIVERY_"
TICKETS: Final = "webhook:tickets"

_Url = Annotated[
    str,
    Meta(
        pattern=r"^https?://[^\s/]+", description="an address that begins with http:// or https://"
    ),
]
_Name = Annotated[str, Meta(min_length=1)]
_Seconds = Annotated[int, Meta(ge=0, le=86_400)]
_DeliverySeconds = Annotated[int, Meta(ge=1, le=86_400)]


class DeliverySettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings in `LINEWARD_DELIVERY_` + field in capitals. A channel without them is not sent to.

    Attributes:
        slack_token_file: holds a bot's token, scopes chat:write and channels:history.
        slack_signing_secret_file: holds the app's signing secret, by which buttons are believed.
        pagerduty_url: of the Events API, without a path; none: that of the US.
        pagerduty_webhook_secret_file: holds the secret of PagerDuty's webhook subscription.
        pagerduty_keys: folder that the files of routing keys are relative to.
        pagerduty_ca_file: authorities to trust in place of the usual ones, for a proxy.
        notify_keys: folder that the files named in `notify` are relative to; none:
            `pagerduty_keys`.
        webhook_url: of the webhook named `tickets`.
        fallback: channel for what cannot be delivered, as `slack:C0123`.
        undelivered_seconds: after these the fallback channel gets a copy.
        give_up_seconds: after these a message that was never accepted is failed.
    """

    slack_url: str = "https://slack.com/api/"
    slack_token_file: Path | None = None
    slack_signing_secret_file: Path | None = None
    pagerduty_url: str | None = None
    pagerduty_keys: Path = Path()
    pagerduty_ca_file: Path | None = None
    pagerduty_webhook_secret_file: Path | None = None
    notify_keys: Path | None = None
    webhook_url: str | None = None
    webhook_secret_file: Path | None = None
    fallback: str | None = None
    timeout_seconds: Annotated[int, Meta(ge=1, le=60)] = 10
    undelivered_seconds: _DeliverySeconds = 600
    give_up_seconds: _DeliverySeconds = 86_400
    first_wait_seconds: Annotated[int, Meta(ge=1, le=60)] = 5
    longest_wait_seconds: _DeliverySeconds = 300

    @property
    def secrets_folder(self) -> Path:
        """Return the folder of the files that `notify` of the policy names."""
        return self.pagerduty_keys if self.notify_keys is None else self.notify_keys

    @property
    def lease_seconds(self) -> int:
        """Return how long an attempt may last: the requests of one message, and a reserve."""
        return 5 * self.timeout_seconds


def read_delivery() -> DeliverySettings:
    """Return the delivery settings of this process.

    Raises:
        InvalidSettingError: an unknown variable, or a value out of range.
    """
    return environment.read(DeliverySettings, section=DELIVERY_SECTION)


class Variables(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of notifications, from `LINEWARD_ALERTS_` + field in capitals.

    Attributes:
        mode: `direct`: people are notified at once. `alertmanager`: once it has called, or has not
            for `release_seconds`.
        public_url: of the service, as people reach it; none: the service's own address.
        dashboards_url: of Grafana; none: messages have no link to a dashboard.
        platform: the owner of Lineward itself, and of what has no owner.
        engineering: the owner of budgets that burn on; none: `platform`.
        digest_hour: of the policy's time zone, from which on the day's digest of tickets is sent.
        keep_days: how long messages of ended incidents are kept.
        again_seconds: a fault that came back after it was resolved pages again after these.
    """

    mode: Literal["direct", "alertmanager"] = "direct"
    public_url: _Url | None = None
    dashboards_url: _Url | None = None
    platform: _Name = "platform"
    engineering: _Name | None = None
    digest_hour: Annotated[int, Meta(ge=0, le=23)] = 9
    release_seconds: _Seconds = 120
    again_seconds: _Seconds = 900
    keep_days: Annotated[int, Meta(ge=1, le=3_650)] = 90


class RoutingSettings(Variables, frozen=True, kw_only=True):
    """Routing settings with those that follow from delivery and from the service's address.

    Attributes:
        public_url: all links begin with it; by default that of a service without settings.
        tickets: channel of the webhook that takes tickets; none: there is none.
        fallback: channel for what cannot be delivered; none: there is none.
    """

    public_url: str = "http://127.0.0.1:8701"
    tickets: str | None = None
    fallback: str | None = None


def read_public_url() -> str | None:
    """Return the address that people reach the service by; None: it is not set.

    Raises:
        InvalidSettingError: an unknown variable, or a value out of range.
    """
    return environment.read(Variables, section=ALERTS_SECTION).public_url


def read_routing(service_url: str) -> RoutingSettings:
    """Return the routing settings of this process.

    Args:
        service_url: the service's own address, for links if no public one is set.

    Raises:
        InvalidSettingError: an unknown variable, or a value out of range.
    """
    given = environment.read(Variables, section=ALERTS_SECTION)
    delivery = read_delivery()
    _check(delivery.fallback)
    return RoutingSettings(
        **msgspec.structs.asdict(given) | {"public_url": given.public_url or service_url},
        tickets=None if delivery.webhook_url is None else TICKETS,
        fallback=delivery.fallback,
    )


def _check(fallback: str | None) -> None:
    try:
        if fallback is not None:
            parse_channel(fallback)
    except ValueError as error:
        message = f"LINEWARD_DELIVERY_FALLBACK: {error}"
        raise environment.InvalidSettingError(message) from error
