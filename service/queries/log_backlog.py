"""Backlog of a log in Kafka, as the pipeline last saw it."""

from typing import Final

from lineage.catalog.meta_keys import EVENTS_WAIT_SINCE
from lineage.catalog.reader import CatalogReader

_RECORDS: Final = """
SELECT SUM(CASE WHEN end_offset > next_offset THEN end_offset - next_offset ELSE 0 END)
FROM log_position
"""
_OLDEST: Final = f"SELECT value FROM meta WHERE name = '{EVENTS_WAIT_SINCE}'"  # noqa: S608 - a constant


def records_waiting(reader: CatalogReader) -> int | None:
    """Return the records behind the pipeline's position; None before the first batch."""
    records = reader.rows(_RECORDS)[0][0]
    return None if records is None else int(records)


def oldest_since(reader: CatalogReader) -> int | None:
    """Return when the oldest event that had not landed at the last evaluation was received, µs."""
    rows = reader.rows(_OLDEST)
    return int(rows[0][0]) or None if rows else None
