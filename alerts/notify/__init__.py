"""Who hears of what: from an incident's change to letters in the outbox."""

from alerts.notify.incident_summary import Picture, Theirs
from alerts.notify.router import escalate, is_due, receive, told, turn
from alerts.notify.routing_settings import RoutingSettings

__all__ = [
    "Picture",
    "RoutingSettings",
    "Theirs",
    "escalate",
    "is_due",
    "receive",
    "told",
    "turn",
]
