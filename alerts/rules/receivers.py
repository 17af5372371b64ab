"""Receivers of Alertmanager: Lineward's webhook for each owner and severity, and outside."""

from typing import Any, Final, get_args

import msgspec

from alerts.rules.burn_windows import PAGE, Severity
from lineage.policy.model import Policy

WATCHDOG_RECEIVER: Final = "watchdog"
OUTSIDE_RECEIVER: Final = "outside"
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
_PATH = "/api/v1/alertmanager"
_PAGERDUTY_SEVERITY = (
    f'{{{{ if eq .CommonLabels.severity "{PAGE}" }}}}critical{{{{ else }}}}warning{{{{ end }}}}'
)


class Endpoints(msgspec.Struct, frozen=True, kw_only=True):
    """Addresses and files, as Alertmanager's machine sees them.

    Attributes:
        service_url: of Lineward's API, without a path.
        token_file: holds the bearer token for it; none where the API asks for none.
        watchdog_url: outside, raises the alarm when the Watchdog stays away.
        outside_url: a webhook for alerts that Lineward cannot send itself.
    """

    service_url: str
    token_file: str | None
    watchdog_url: str
    outside_url: str | None = None


def receiver_name(owner: str, severity: str) -> str:
    """Return the name of a receiver; other receivers' names have no slash."""
    return f"{owner}/{severity}"


def build_receivers(
    owners: list[str], platform: str, policy: Policy, places: Endpoints
) -> list[Any]:
    """Return the entries of Alertmanager's `receivers`."""
    service = _webhook(places)
    found = [
        {"name": receiver_name(owner, severity), "webhook_configs": [service]}
        for owner in owners
        for severity in SEVERITIES
    ]
    # A heartbeat that is resolved would be none.
    watchdog = {"url": places.watchdog_url, "send_resolved": False}
    found.append({"name": WATCHDOG_RECEIVER, "webhook_configs": [watchdog]})
    if outside := outside_configs(platform, policy, places):
        found.append({"name": OUTSIDE_RECEIVER, **outside})
    return found


def outside_configs(platform: str, policy: Policy, places: Endpoints) -> dict[str, Any]:
    """Return how the platform owner is notified when the service is down; empty: in no way."""
    found: dict[str, Any] = {}
    if places.outside_url is not None:
        found["webhook_configs"] = [{"url": places.outside_url, "send_resolved": True}]
    keys = [one.pagerduty_key_file for one in policy.owners if one.name == platform]
    if keys and keys[0] is not None:
        found["pagerduty_configs"] = [_pagerduty(keys[0])]
    return found


def _webhook(places: Endpoints) -> dict[str, Any]:
    found: dict[str, Any] = {"url": places.service_url.rstrip("/") + _PATH, "send_resolved": True}
    if places.token_file is not None:
        # Alertmanager reads the file at each call: a new token needs no reload.
        authorization = {"type": "Bearer", "credentials_file": places.token_file}
        found["http_config"] = {"authorization": authorization}
    return found


def _pagerduty(key_file: str) -> dict[str, Any]:
    return {
        "routing_key_file": key_file,
        "send_resolved": True,
        "severity": _PAGERDUTY_SEVERITY,
        "description": "{{ .CommonAnnotations.summary }}",
    }
