"""Counters of delivery, in the catalog: they outlive every process, and what was pruned."""

from sqlalchemy import Connection, insert, update

from alerts.delivery.figures import Metric
from lineage.catalog.tables import notification_count


def add(connection: Connection, metric: Metric, channel: str, label: str = "") -> None:
    """One more; `label` is the kind of what was sent, or the reason of what failed."""
    table = notification_count
    same = (table.c.metric == metric, table.c.channel == channel, table.c.label == label)
    more = update(table).where(*same).values(value=table.c.value + 1)
    if not connection.execute(more).rowcount:
        connection.execute(
            insert(table).values(metric=metric, channel=channel, label=label, value=1)
        )
