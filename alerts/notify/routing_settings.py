"""What an operator may set of routing; every default is safe."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from alerts.notify import delivery_settings as delivery
from alerts.notify.channels.channel import parse_channel
from lineage import environment

SECTION = "ALERTS_"
TICKETS: Final = "webhook:tickets"

_Url = Annotated[str, Meta(pattern=r"^https?://[^\s/]+")]
_Name = Annotated[str, Meta(min_length=1)]
_Seconds = Annotated[int, Meta(ge=0, le=86_400)]


class Variables(msgspec.Struct, frozen=True, kw_only=True):
    """Read from `LINEWARD_ALERTS_` + field in capitals.

    Attributes:
        mode: `direct`: people are told at once. `alertmanager`: once it has called, or has not
            for `release_seconds`.
        public_url: of the service, as people reach it: all links begin with it.
        dashboards_url: of Grafana, where that is elsewhere.
        platform: the owner of Lineward itself, and of what has no owner.
        engineering: the owner of budgets that burn on; none: `platform`.
        digest_hour: of the policy's time zone, from which on the day's digest of tickets is told.
        keep_days: how long it is kept what was said of what is over.
        again_seconds: what came back after it was told to be over rings again after these.
    """

    mode: Literal["direct", "alertmanager"] = "direct"
    public_url: _Url = "http://127.0.0.1:8701"
    dashboards_url: _Url | None = None
    platform: _Name = "platform"
    engineering: _Name | None = None
    digest_hour: Annotated[int, Meta(ge=0, le=23)] = 9
    release_seconds: _Seconds = 120
    again_seconds: _Seconds = 900
    keep_days: Annotated[int, Meta(ge=1, le=3_650)] = 90


class RoutingSettings(Variables, frozen=True, kw_only=True):
    """With what follows from the settings of delivery.

    Attributes:
        tickets: channel of the webhook that takes tickets; none: there is none.
        fallback: channel for what cannot be told another way; none: there is none.
    """

    tickets: str | None = None
    fallback: str | None = None


def read() -> RoutingSettings:
    """Settings of this process.

    Raises:
        InvalidSettingError: an unknown variable, or a value out of range.
    """
    given = environment.read(Variables, section=SECTION)
    ways = delivery.read()
    _check(ways.fallback)
    return RoutingSettings(
        **msgspec.structs.asdict(given),
        tickets=None if ways.webhook_url is None else TICKETS,
        fallback=ways.fallback,
    )


def _check(fallback: str | None) -> None:
    try:
        if fallback is not None:
            parse_channel(fallback)
    except ValueError as error:
        message = f"LINEWARD_DELIVERY_FALLBACK: {error}"
        raise environment.InvalidSettingError(message) from error
