"""What the exporter shows of delivery: light to import, as all that only asks."""

from typing import Final, Literal

import msgspec

from lineage.catalog.reader import Reader

Metric = Literal["sent", "failed", "repeated"]

SENT: Final = "sent"
FAILED: Final = "failed"
REPEATED: Final = "repeated"

_COUNTS = """
SELECT channel, label, value FROM notification_count WHERE metric = :metric ORDER BY channel, label
"""
_OLDEST = "SELECT MIN(undelivered_since) FROM notification WHERE state = 'waiting'"


class DeliveryCount(msgspec.Struct, frozen=True):
    """One series. `label`: the kind of what was sent, or the reason of what failed."""

    channel: str
    label: str
    value: float


def load_counts(reader: Reader, metric: Metric) -> list[DeliveryCount]:
    """All series of one counter.

    Args:
        reader: of the catalog.
        metric: `sent`: messages that were taken, by kind. `failed`: attempts that were not, by
            reason; and messages, `undelivered` to the fallback channel, `gave_up` when parked.
            `repeated`: sent though an earlier try may have arrived; no label.
    """
    return [DeliveryCount(*row) for row in reader.rows(_COUNTS, {"metric": metric})]


def oldest_undelivered_seconds(reader: Reader, now: int) -> float:
    """Age of the oldest that waits, or that what waits supersedes; 0 when nothing does.

    Args:
        reader: of the catalog.
        now: µs.
    """
    ((oldest,),) = reader.rows(_OLDEST)
    return 0.0 if oldest is None else max(0.0, (now - int(oldest)) / 1_000_000)


def count_undelivered(reader: Reader) -> int:
    """How many messages wait; what is superseded does not."""
    return int(reader.rows("SELECT count(*) FROM notification WHERE state = 'waiting'")[0][0])
