"""Render Alertmanager's configuration of a policy."""

from typing import Any, Final

from alerts.rules.burn_windows import ESCALATION, PAGE, TICKET
from alerts.rules.inhibition import DATASET_ALERTS, build_inhibitions
from alerts.rules.model import OUTSIDE, to_yaml
from alerts.rules.mute_times import build_mute_times
from alerts.rules.promql import equal
from alerts.rules.receivers import (
    OUTSIDE_RECEIVER,
    SEVERITIES,
    WATCHDOG_RECEIVER,
    Endpoints,
    build_receivers,
    outside_configs,
    receiver_name,
)
from alerts.rules.rule_file import AlertOwners
from alerts.rules.service_alerts import WATCHDOG
from lineage.policy.model import Policy

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
            "matchers": [equal("alertname", WATCHDOG)],
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
