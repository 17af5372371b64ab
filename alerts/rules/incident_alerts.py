"""Alerts on open incidents: one for each, whatever the number of its datasets."""

from collections.abc import Iterator
from typing import Final

from alerts.rules.model import AlertRule, since
from alerts.rules.promql import bridge, selector
from lineage.states import PAGE, TICKET

OPEN_SERIES: Final = "lineage_incident_open"
INCIDENT_ALERT_NAMES: Final = {PAGE: "LinewardIncidentPage", TICKET: "LinewardIncidentTicket"}
_LABELS = "incident, root_kind, severity, owner"


def incident_alerts() -> Iterator[AlertRule]:
    """Return the alerts on pages and tickets; the series names the owner."""
    for severity, name in INCIDENT_ALERT_NAMES.items():
        yield AlertRule(
            name=name,
            # Several services show the same incident.
            expr=f"max by ({_LABELS}) ({bridge(selector(OPEN_SERIES, severity=severity))}) > 0",
            severity=severity,
            owner=None,
            summary="Incident {{ $labels.incident }} is open (kind: {{ $labels.root_kind }})",
            description=(
                "Incident {{ $labels.incident }} is open, since "
                f"{since(name, 'incident')}. Its kind is {{{{ $labels.root_kind }}}}, and its owner"
                " is {{ $labels.owner }}. The incident's message lists the affected datasets."
                " `lineward incidents {{ $labels.incident }}` shows the incident."
            ),
        )
