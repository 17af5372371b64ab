"""Alerts on open incidents: one for each, whatever the number of its datasets."""

from collections.abc import Iterator
from typing import Final

from alerts.rules.model import AlertRule
from alerts.rules.promql import bridge, quote, selector
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
                f"{_since(name)}. Its kind is {{{{ $labels.root_kind }}}}, and its owner"
                " is {{ $labels.owner }}. The incident's message lists the affected datasets."
            ),
        )


def _since(name: str) -> str:
    """Return a template: the id is a label, so the template builds the query."""
    query = f"max(ALERTS_FOR_STATE{{alertname={quote(name)},incident=%q}})"
    return (
        f"{{{{ with printf {quote(query)} $labels.incident | query }}}}"
        "{{ . | first | value | humanizeTimestamp }}{{ else }}now{{ end }}"
    )
