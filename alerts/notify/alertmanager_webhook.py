"""Body of Alertmanager's webhook, version 4, validated strictly."""

from datetime import datetime
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from lineage.errors import InvalidRequestError
from lineage.process.clock import to_micros

_MAX_ALERTS: Final = 10_000
_MAX_SHOWN: Final = 80

_Text = Annotated[str, Meta(max_length=65_536)]
_Labels = dict[_Text, _Text]
_Fingerprint = Annotated[str, Meta(pattern="^[0-9A-Za-z]{1,64}$")]


class InvalidWebhookError(InvalidRequestError):
    """Body that is not Alertmanager's; the text names the path and the problem."""


class FiredAlert(msgspec.Struct, frozen=True, rename="camel"):
    """Alert of a group.

    Attributes:
        fingerprint: of its labels.
    """

    status: Literal["firing", "resolved"]
    labels: _Labels
    starts_at: datetime
    fingerprint: _Fingerprint
    annotations: _Labels = {}

    @property
    def name(self) -> str:
        """Return the name of its rule."""
        return self.labels.get("alertname", "")

    @property
    def is_firing(self) -> bool:
        """Return whether it fires."""
        return self.status == "firing"

    @property
    def began_at(self) -> int:
        """Return when it began, in µs."""
        return to_micros(self.starts_at)


class WebhookPayload(msgspec.Struct, frozen=True, rename="camel"):
    """Group of alerts.

    Attributes:
        truncated_alerts: how many more there are, which Alertmanager left out.
    """

    version: Literal["4"]
    alerts: Annotated[tuple[FiredAlert, ...], Meta(max_length=_MAX_ALERTS)]
    truncated_alerts: int = 0


def parse_webhook(body: bytes) -> WebhookPayload:
    """Return the body that Alertmanager posted.

    Raises:
        InvalidWebhookError: it is none.
    """
    try:
        call = msgspec.json.decode(body, type=WebhookPayload)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at ")
        raise InvalidWebhookError(f"{path.strip('`') or '$'}: {what}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidWebhookError(f"$: no JSON: {str(error)[:_MAX_SHOWN]}") from error
    for position, alert in enumerate(call.alerts):
        _check(position, alert)
    return call


def _check(position: int, alert: FiredAlert) -> None:
    path = f"$.alerts[{position}]"
    if not alert.name:
        raise InvalidWebhookError(f"{path}.labels.alertname: an alert has a name")
    if alert.starts_at.tzinfo is None:
        raise InvalidWebhookError(f"{path}.startsAt: expected a time zone")
