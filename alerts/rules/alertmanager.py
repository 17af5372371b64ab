"""Alertmanager's configuration of a policy: routes, and receivers for owners and outside."""

from typing import Any, Final, get_args

import msgspec

from alerts.rules.burn_windows import ESCALATION, AlertSeverity
from alerts.rules.inhibition import DATASET_ALERTS, build_inhibitions
from alerts.rules.model import OUTSIDE, to_yaml
from alerts.rules.mute_times import build_mute_times
from alerts.rules.promql import equal
from alerts.rules.rule_file import AlertOwners
from alerts.rules.service_alerts import WATCHDOG
from lineage.policy.model import Policy
from lineage.states import PAGE, TICKET

WATCHDOG_RECEIVER: Final = "watchdog"
OUTSIDE_RECEIVER: Final = "outside"
SEVERITIES: Final[tuple[AlertSeverity, ...]] = get_args(AlertSeverity)
_PATH = "/api/v1/alertmanager"
_PAGERDUTY_PATH = "/v2/enqueue"
_PAGERDUTY_SEVERITY = (
    f'{{{{ if eq .CommonLabels.severity "{PAGE}" }}}}critical{{{{ else }}}}warning{{{{ end }}}}'
)

_HEAD = (
    "Alertmanager's configuration, by `lineward render alertmanager`: change the policy instead.",
)
# What has one root is one group: an incident, a burning budget, or a fault of Lineward's own.
_GROUP_BY: Final = ["incident", "root", "sli", "tier"]
_QUICK: Final = {"group_wait": "10s", "group_interval": "1m", "repeat_interval": "4h"}
# Each root is a group: longer would gather nothing, and takes a ticket over its two minutes.
_SLOW: Final = {"group_wait": "30s", "group_interval": "5m", "repeat_interval": "1d"}
_TIMES: Final = {PAGE: _QUICK, TICKET: _SLOW, ESCALATION: _SLOW}
# Sent every five minutes: its receiver raises an alarm after ten.
_HEARTBEAT: Final = {"group_wait": "0s", "group_interval": "1m", "repeat_interval": "4m"}


class Endpoints(msgspec.Struct, frozen=True, kw_only=True):
    """Addresses and files, as Alertmanager's machine sees them.

    Attributes:
        service_url: of Lineward's API, without a path.
        token_file: holds the bearer token for it; none where the API asks for none.
        watchdog_url: outside, raises the alarm when the Watchdog stays away.
        outside_url: a webhook for alerts that Lineward cannot send itself.
        pagerduty_key_file: holds the platform owner's key; none: the path of the policy counts.
        pagerduty_url: of PagerDuty's Events API, without a path; none: Alertmanager's own.
    """

    service_url: str
    token_file: str | None
    watchdog_url: str
    outside_url: str | None = None
    pagerduty_key_file: str | None = None
    pagerduty_url: str | None = None


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
    if key_file := outside_key_file(platform, policy, places):
        found["pagerduty_configs"] = [_pagerduty(key_file, places.pagerduty_url)]
    return found


def outside_key_file(platform: str, policy: Policy, places: Endpoints) -> str | None:
    """Return the file of the platform owner's PagerDuty key, given or of the policy."""
    keys = (one.pagerduty_key_file for one in policy.owners if one.name == platform)
    return places.pagerduty_key_file or next(keys, None)


def _webhook(places: Endpoints) -> dict[str, Any]:
    found: dict[str, Any] = {"url": places.service_url.rstrip("/") + _PATH, "send_resolved": True}
    if places.token_file is not None:
        # Alertmanager reads the file at each call: a new token needs no reload.
        authorization = {"type": "Bearer", "credentials_file": places.token_file}
        found["http_config"] = {"authorization": authorization}
    return found


def _pagerduty(key_file: str, url: str | None) -> dict[str, Any]:
    place = {} if url is None else {"url": url.rstrip("/") + _PAGERDUTY_PATH}
    return place | {
        "routing_key_file": key_file,
        "send_resolved": True,
        "severity": _PAGERDUTY_SEVERITY,
        # A group may have several alerts, and PagerDuty rejects a page without a text.
        "description": "{{ range .Alerts }}{{ .Annotations.summary }}. {{ end }}",
    }


def render_alertmanager(policy: Policy, *, people: AlertOwners, places: Endpoints) -> str:
    """Return YAML for Alertmanager 0.25 and newer; the same policy gives the same bytes."""
    mutes = build_mute_times(policy)
    owners = owner_names(policy, people)
    document = {
        "route": _route(policy, people, places, [one["name"] for one in mutes]),
        "inhibit_rules": build_inhibitions(),
        "receivers": build_receivers(owners, people.platform, policy, places),
    }
    if mutes:
        document["time_intervals"] = mutes
    return to_yaml(document, _HEAD)


def owner_names(policy: Policy, people: AlertOwners) -> list[str]:
    """Return the owners of the policy, and of alerts without an owner."""
    named = (*(owner.name for owner in policy.owners), people.platform, people.engineering)
    return list(dict.fromkeys(named))


def _route(
    policy: Policy, people: AlertOwners, places: Endpoints, mutes: list[str]
) -> dict[str, Any]:
    routes: list[dict[str, Any]] = [
        {
            # Others have a Watchdog too, such as kube-prometheus-stack.
            "matchers": [equal("alertname", WATCHDOG), equal("area", "service")],
            "receiver": WATCHDOG_RECEIVER,
            **_HEARTBEAT,
        }
    ]
    if outside_configs(people.platform, policy, places):
        outside = [equal("reach", OUTSIDE["reach"])]
        routes.append({"matchers": outside, "receiver": OUTSIDE_RECEIVER, **_QUICK})
    for owner in owner_names(policy, people):
        own = {"matchers": [equal("owner", owner)], "receiver": receiver_name(owner, TICKET)}
        routes.append({**own, **_SLOW, "routes": _by_severity(owner, mutes)})
    # No owner, or one that the policy does not know: the platform's.
    routes += _by_severity(people.platform, mutes)
    fallback = receiver_name(people.platform, TICKET)
    return {"receiver": fallback, "group_by": _GROUP_BY, **_SLOW, "routes": routes}


def _by_severity(owner: str, mutes: list[str]) -> list[dict[str, Any]]:
    found = []
    for severity in SEVERITIES:
        matchers = [equal("severity", severity)]
        to = receiver_name(owner, severity)
        route: dict[str, Any] = {"matchers": matchers, "receiver": to, **_TIMES[severity]}
        if mutes:
            # Muting is not inherited: it stands on the routes of what it mutes.
            muted = [{"matchers": one, "mute_time_intervals": mutes} for one in DATASET_ALERTS]
            route["routes"] = muted
        found.append(route)
    return found
