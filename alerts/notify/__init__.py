"""Who hears of what: from an incident's change to letters in the outbox."""

from alerts.notify.incident_summary import IncidentSummary, OwnerImpact
from alerts.notify.router import escalate, is_due, receive_webhook, route_due, route_incident_step
from alerts.notify.settings import RoutingSettings

__all__ = [
    "IncidentSummary",
    "OwnerImpact",
    "RoutingSettings",
    "escalate",
    "is_due",
    "receive_webhook",
    "route_due",
    "route_incident_step",
]
