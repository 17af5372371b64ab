"""What becomes of messages when the clock was ahead and is right again."""

from typing import Final

from sqlalchemy import ColumnElement, Connection, update

from alerts.notify.delivery_settings import DeliverySettings
from lineage.catalog.tables import notification, notification_channel

_MICROS: Final = 1_000_000
# A provider may ask for a longer wait than ours, hardly for more than an hour.
_LONGEST_RETRY_SECONDS: Final = 3_600
# Messages sent since then are looked for before one is sent again.
_DOUBT_SECONDS: Final = 86_400


def correct_times(connection: Connection, now: int, settings: DeliverySettings) -> None:
    """Bring back times that no sender can have meant: they would hold up messages until then.

    Args:
        connection: in a write transaction.
        now: µs.
        settings: of the sender, with its waits.
    """
    longest = max(_LONGEST_RETRY_SECONDS, settings.longest_wait_seconds, settings.lease_seconds)
    until = now + int(longest * _MICROS)
    held, row = notification_channel, notification.c
    waits = row.state == "waiting"
    connection.execute(update(held).where(held.c.held_until > until).values(held_until=now))
    _set(connection, {"next_attempt_at": now}, waits, row.next_attempt_at > until)
    _set(connection, {"created_at": now}, waits, row.created_at > now)
    _set(connection, {"undelivered_since": now}, waits, row.undelivered_since > now)
    doubt = now - _DOUBT_SECONDS * _MICROS
    _set(connection, {"doubt_since": doubt}, waits, row.doubt_since > now)


def _set(connection: Connection, values: dict[str, int], *which: ColumnElement[bool]) -> None:
    connection.execute(update(notification).where(*which).values(values))
