"""Delivery metrics from the catalog. The module imports little, as all that only reads."""

from typing import Final, Literal

import msgspec

from lineage.catalog.reader import CatalogReader
from lineage.catalog.rows import convert_rows
from lineage.process.clock import SECOND_MICROS

Metric = Literal["sent", "failed", "repeated"]

SENT: Final = "sent"
DELIVERY_FAILED: Final = "failed"
REPEATED: Final = "repeated"

_COUNTS = """
SELECT channel, label, value FROM notification_count WHERE metric = :metric ORDER BY channel, label
"""
_OLDEST = "SELECT MIN(undelivered_since) FROM notification WHERE state = 'waiting'"


class DeliveryCount(msgspec.Struct, frozen=True):
    """Series of a metric. `label`: the kind of the message, or the reason of a failure."""

    channel: str
    label: str
    value: float


def load_counts(reader: CatalogReader, metric: Metric) -> list[DeliveryCount]:
    """Return all series of one counter.

    Args:
        reader: of the catalog.
        metric: `sent`: messages that were taken, by kind. `failed`: attempts that were not, by
            reason; and messages, `undelivered` to the fallback channel, `gave_up` when parked.
            `repeated`: sent though an earlier try may have arrived; no label.
    """
    return convert_rows(DeliveryCount, reader.rows(_COUNTS, {"metric": metric}))


def oldest_undelivered_seconds(reader: CatalogReader, now: int) -> float:
    """Return the age of the oldest waiting message and of what it superseded; 0: none waits.

    Args:
        reader: of the catalog.
        now: µs.
    """
    ((oldest,),) = reader.rows(_OLDEST)
    return 0.0 if oldest is None else max(0.0, (now - int(oldest)) / SECOND_MICROS)


def count_undelivered(reader: CatalogReader) -> int:
    """Return how many messages wait; superseded ones do not."""
    return int(reader.rows("SELECT count(*) FROM notification WHERE state = 'waiting'")[0][0])
