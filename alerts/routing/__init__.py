"""Who hears of what: from an incident's change to letters in the outbox."""

from alerts.routing.desk import escalate, is_due, receive, told, turn
from alerts.routing.picture import Picture, Theirs
from alerts.routing.settings import RoutingSettings

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
