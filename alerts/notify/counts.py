"""Counters of delivery, in the catalog: they outlive every process, and what was pruned."""

from sqlalchemy import Connection

from alerts.notify.delivery_queries import Metric
from lineage.catalog.tables import notification_count
from lineage.catalog.upsert import added, fold_rows


def add(
    connection: Connection, metric: Metric, channel: str, label: str = "", *, times: int = 1
) -> None:
    """So many more; `label` is the kind of what was sent, or the reason of what failed."""
    row = {"metric": metric, "channel": channel, "label": label, "value": times}
    fold_rows(connection, notification_count, [row], {"value": added})
