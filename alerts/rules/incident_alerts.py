"""Alerts on open incidents: one for each, whatever the number of its datasets."""

from collections.abc import Iterator
from typing import Final

from alerts.rules.burn_windows import PAGE, TICKET
from alerts.rules.model import Alert
from alerts.rules.promql import bridge, quote, selector

OPEN: Final = "lineage_incident_open"
NAMES: Final = {PAGE: "LinewardIncidentPage", TICKET: "LinewardIncidentTicket"}
# Roots that are Lineward itself: behind the first, no lineage comes in.
OUTAGE_ROOTS: Final = ("collector", "pipeline", "service")
OWN_ROOTS: Final = (*OUTAGE_ROOTS, "marquez")
_LABELS = "incident, root_kind, severity, owner"


def incident_alerts() -> Iterator[Alert]:
    """A page or a ticket, to the owner that the incident's series names."""
    for severity, name in NAMES.items():
        yield Alert(
            name=name,
            # Several services show the same incident.
            expr=f"max by ({_LABELS}) ({bridge(selector(OPEN, severity=severity))}) > 0",
            severity=severity,
            owner=None,
            summary="Incident {{ $labels.incident }}: {{ $labels.root_kind }}",
            description=(
                "Incident {{ $labels.incident }} is open, since "
                f"{_since(name)}. Its root is of the kind {{{{ $labels.root_kind }}}} and belongs"
                " to {{ $labels.owner }}; the message of the incident lists what it affects."
            ),
        )


def _since(name: str) -> str:
    """Of this incident: its id stands in the labels, so that the query is built by the template."""
    query = f"max(ALERTS_FOR_STATE{{alertname={quote(name)},incident=%q}})"
    return (
        f"{{{{ with printf {quote(query)} $labels.incident | query }}}}"
        "{{ . | first | value | humanizeTimestamp }}{{ else }}now{{ end }}"
    )
