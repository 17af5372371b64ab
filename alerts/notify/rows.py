"""Which rows of the outbox are meant."""

from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, select

from alerts.incidents.severity import PAGE
from lineage.catalog.tables import notification

_own = notification.c
# Quotes inside of a JSON string are escaped: no name of an event can hold these characters.
IS_PAGE: Final = _own.message.contains(f'"severity":"{PAGE}"', autoescape=True)


def of_incident(incident_id: str, channel: str) -> ColumnElement[bool]:
    """All that one channel is told of one incident."""
    return and_(_own.incident_id == incident_id, _own.channel == channel)


def one(incident_id: str, revision: int, channel: str) -> ColumnElement[bool]:
    """One message to one channel."""
    return and_(of_incident(incident_id, channel), _own.revision == revision)


def waiting(incident_id: str, channel: str) -> Select[Any]:
    """What one channel is still to be told of one incident, in its order."""
    own = select(notification).where(of_incident(incident_id, channel), _own.state == "waiting")
    return own.order_by(_own.revision)
