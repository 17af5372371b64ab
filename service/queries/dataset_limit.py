"""Limit of a dataset's age, its origin and its deadline."""

from datetime import datetime, timedelta

import msgspec

from lineage.catalog.reader import CatalogReader
from lineage.process.clock import to_micros
from service.queries.dataset_lookup import Dataset
from service.queries.run_shapes import Instant
from service.queries.shapes import DatasetDetail
from service.queries.timestamps import iso_of

# As freshness judges: what is declared, an hour of a stream, what was learned.
_IN_FORCE = """
SELECT p.declared_limit_seconds AS declared,
  CASE WHEN p.is_streaming OR a.last_write_is_streaming THEN 3600.0 END AS streaming,
  l.limit_seconds AS learned
FROM dataset d
LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
LEFT JOIN dataset_activity a ON a.dataset_key = d.dataset_key
LEFT JOIN dataset_limit l ON l.dataset_key = d.dataset_key
WHERE d.dataset_key = :key
"""
_ORIGINS = ("declared", "streaming", "learned")  # columns of `_IN_FORCE`


class Limit(msgspec.Struct, frozen=True):
    """Limit of the age, and the deadline; null in `deadline_at`: the dataset was never written."""

    seconds: float
    origin: str
    deadline_at: Instant | None


def limit_of(reader: CatalogReader, named: Dataset, known: DatasetDetail) -> Limit | None:
    """Return the last freshness limit, or the one that would apply; null: none yet."""
    judged = [
        (each.limit_seconds, each.limit_origin) for each in known.states if each.limit_seconds
    ]
    (row,) = reader.rows(_IN_FORCE, {"key": named[0]})
    in_force = [(getattr(row, origin), origin) for origin in _ORIGINS]
    seconds, origin = next((each for each in (*judged, *in_force) if each[0]), (None, None))
    if seconds is None:
        return None
    written_at = known.last_written_at
    deadline_at = None if written_at is None else _later(written_at, seconds)
    return Limit(seconds, origin or "unknown", deadline_at)


def _later(instant: str, seconds: float) -> str:
    return iso_of(to_micros(datetime.fromisoformat(instant) + timedelta(seconds=seconds)))
