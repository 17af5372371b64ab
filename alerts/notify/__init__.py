"""Notifications: from a change of an incident to messages that its owners receive."""

from alerts.notify.incident_summary import IncidentSummary, OwnerImpact
from alerts.notify.router import (
    escalate_incident,
    is_route_due,
    receive_webhook,
    route_due,
    route_incident_step,
)
from alerts.notify.settings import RoutingSettings

__all__ = [
    "IncidentSummary",
    "OwnerImpact",
    "RoutingSettings",
    "escalate_incident",
    "is_route_due",
    "receive_webhook",
    "route_due",
    "route_incident_step",
]
