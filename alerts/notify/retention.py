"""What ended long ago is forgotten, once a day: messages, what was said, alerts, digests."""

from typing import Final

from sqlalchemy import Connection, delete

from alerts.notify import outbox, state_store
from alerts.notify.notification_state import MICROS
from lineage.catalog.tables import digest, received_alert

_DAY: Final = 86_400 * MICROS


def prune(connection: Connection, keep_days: int, at: int) -> None:
    """All that ended more than so many days before this instant in µs; what stands is kept."""
    before = at - keep_days * _DAY
    state_store.prune(connection, before)
    outbox.prune(connection, before)
    connection.execute(delete(received_alert).where(received_alert.c.ends_at < before))
    connection.execute(delete(digest).where(digest.c.told_at < before))
