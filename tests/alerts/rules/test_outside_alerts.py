"""Check that pages go outside in each state in which the service cannot take or send an alert."""

from pathlib import Path

import pytest

from tests.alerts.rules.promtool import asked_at_once, budget, only
from tests.alerts.rules.series import healthy

MINUTES, BROKEN, LATER = 55, 15, 35
FEW = only(budget("freshness", "critical"))
_ROLES = ("collector", "marquez", "pipeline", "service")

# The service exports these without the catalog; the collector and the shipper export the others.
WITHOUT_CATALOG = ("lineage_role_", "lineage_collector_alive", "lineage_policy_", "lineage_catalog")
OWN = ("up{", "lineage_collector_spool_", "lineage_collector_commit_", "lineage_shipper_")


def _ended(*prefixes: str) -> dict[str, str]:
    """Return the series of a healthy service; all but those with these prefixes end."""
    series = healthy(MINUTES)
    return {
        name: values if name.startswith(prefixes) else values.split("x")[0] + f"x{BROKEN} stale"
        for name, values in series.items()
    }


def _failing_roles(*roles: str) -> dict[str, str]:
    return {f'lineage_role_working{{role="{role}"}}': f"1x{BROKEN} 0x40" for role in roles}


def _without_catalog() -> dict[str, str]:
    """Return the series while the catalog cannot be read: no service leads."""
    gauges = ("lineage_catalog_readable", "lineage_service_leader")
    return _ended(*WITHOUT_CATALOG, *OWN) | dict.fromkeys(gauges, f"1x{BROKEN} 0x40")


def _scaled(series: dict[str, str]) -> dict[str, str]:
    """Return the series of scaled mode: no `lineward up`, and no spool beside the service."""
    alone = ("lineage_role_", "lineage_collector_alive")
    return {name: values for name, values in series.items() if not name.startswith(alone)}


STATES = {
    "service down": _ended("lineage_collector_spool_", "up")
    | {'up{job="lineward",instance="a:8702"}': f"1x{BROKEN} 0x40"},
    "invalid policy at start": healthy(MINUTES, lineage_policy_in_force=f"1x{BROKEN} 0x40"),
    "catalog unreachable": _without_catalog() | _failing_roles("pipeline", "service"),
    "catalog unreachable in scaled mode": _scaled(_without_catalog()),
    "disk full": _without_catalog()
    | {"lineage_collector_commit_failures_total": f"0x{BROKEN} 1+1x40"}
    | _failing_roles(*_ROLES),
    "delivery stuck": healthy(
        MINUTES, lineage_notification_oldest_undelivered_seconds=f"0x{BROKEN} 0+60x40"
    ),
}
_PAGES = 'ALERTS{alertstate="firing",severity="page"'
# An outage that goes outside mutes the failing roles behind it (`alerts/rules/inhibition.py`).
_MUTED = f'{_PAGES},alertname="LineageRoleFailing",role=~"collector|pipeline"}}'
_INSIDE = f'{_PAGES},reach=""}} unless ({_MUTED} and on() {_PAGES},root="ingestion",reach!=""}})'


def _differences(folder: Path, rules: str, state: str) -> str:
    """Return how the state differs from: a page goes outside, and no page relies on the service."""
    return asked_at_once(
        folder,
        rules,
        STATES[state],
        (LATER, f'count({_PAGES},reach="outside"}}) > bool 0', ("{} 1",)),
        *((minute, _INSIDE, ()) for minute in range(BROKEN, LATER)),
    )


@pytest.mark.parametrize("state", STATES)
def test_pages_go_outside_while_the_service_takes_or_sends_none(tmp_path: Path, state: str):
    """Page outside, and send no page to a webhook that rejects it."""
    assert _differences(tmp_path, FEW, state) == ""
