from pathlib import Path

import pytest

from tests.alerts.rules.promtool import At, ExpectedAlert, alert_differences, rules_of
from tests.alerts.rules.series import healthy

OWNER = 'shop "{{ x }}"'


def opened(severity: str, instance: str) -> str:
    """Return the series of an open incident, as a service shows it."""
    owner = OWNER.replace('"', '\\"')
    return (
        f'lineage_incident_open{{incident="i-7",root_kind="job_failed",severity="{severity}",'
        f'owner="{owner}",instance="{instance}"}}'
    )


@pytest.mark.parametrize(
    ("severity", "name"), [("page", "LinewardIncidentPage"), ("ticket", "LinewardIncidentTicket")]
)
def test_an_open_incident_is_one_alert_to_its_owner(tmp_path: Path, severity: str, name: str):
    """Fire one alert while services show the incident, whatever the owner's name is."""
    series = healthy(35)
    for instance in ("a:8702", "b:8702"):
        series[opened(severity, instance)] = "_x15 1x10 stale"
    labels = {"incident": "i-7", "root_kind": "job_failed", "severity": severity, "owner": OWNER}
    alert, later = (
        ExpectedAlert(
            name,
            labels,
            "Incident i-7 is open (kind: job_failed)",
            f"Incident i-7 is open, since {since}. Its kind is job_failed, and its owner"
            f" is {OWNER}. The incident's message lists the affected datasets. `lineward incidents"
            " i-7` shows the incident.",
        )
        for since in ("now", "1970-01-01 00:15:00 +0000 UTC")
    )

    moments = (At(14), At(15, (alert,)), At(25, (later,)), At(26))
    assert alert_differences(tmp_path, rules_of(), series, *moments) == ""
