"""What Alertmanager posts to a webhook (version 4 of its body), read strictly."""

from datetime import datetime
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from lineage.clock import to_micros

_MAX_ALERTS: Final = 10_000
_MAX_SHOWN: Final = 80

_Text = Annotated[str, Meta(max_length=65_536)]
_Labels = dict[_Text, _Text]
_Fingerprint = Annotated[str, Meta(pattern="^[0-9A-Za-z]{1,64}$")]


class InvalidWebhookError(ValueError):
    """No call of Alertmanager; the text names the path and what is wrong there."""


class Alert(msgspec.Struct, frozen=True, rename="camel"):
    """One alert of a group.

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
        """Of its rule."""
        return self.labels.get("alertname", "")

    @property
    def is_firing(self) -> bool:
        """It is not over."""
        return self.status == "firing"

    @property
    def began_at(self) -> int:
        """µs."""
        return to_micros(self.starts_at)


class WebhookPayload(msgspec.Struct, frozen=True, rename="camel"):
    """A group of alerts; what else it says is in each of them, or not ours to ask.

    Attributes:
        truncated_alerts: how many more there are, which Alertmanager left out.
    """

    version: Literal["4"]
    alerts: Annotated[tuple[Alert, ...], Meta(max_length=_MAX_ALERTS)]
    truncated_alerts: int = 0


def parse_webhook(body: bytes) -> WebhookPayload:
    """A body, as Alertmanager posts it.

    Raises:
        InvalidCallError: it is none.
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


def _check(position: int, alert: Alert) -> None:
    path = f"$.alerts[{position}]"
    if not alert.name:
        raise InvalidWebhookError(f"{path}.labels.alertname: an alert has a name")
    if alert.starts_at.tzinfo is None:
        raise InvalidWebhookError(f"{path}.startsAt: expected a time zone")
