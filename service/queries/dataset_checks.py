"""Checks of a dataset: its edges against evidence, and its age against a limit."""

from datetime import datetime, timedelta

import msgspec

from lineage.catalog.queries import IS_STREAM
from lineage.catalog.reader import CatalogReader
from lineage.process.clock import to_micros
from lineage.sli_limits import STREAM_LIMIT_SECONDS
from service.queries.dataset_lookup import KnownDataset
from service.queries.run_shapes import IsoTime
from service.queries.shapes import DatasetDetail
from service.queries.timestamps import iso_of
from service.queries.visibility import EVERYTHING, Visibility, sql_filter

_MOST = 200
# Of each edge and oracle the newest; one that is not good before those that are.
_NEWEST = """
FROM edge_check c JOIN dataset d ON d.dataset_key = c.upstream_key
WHERE c.downstream_key = :key AND c.written_at = (
  SELECT MAX(l.written_at) FROM edge_check l WHERE l.downstream_key = c.downstream_key
  AND l.upstream_key = c.upstream_key AND l.oracle = c.oracle)
"""
_CHECKS = f"""
SELECT c.written_at, d.namespace AS dataset_namespace, d.name AS dataset, c.outcome, c.oracle,
  c.producer, c.adapter_version, c.root_run_id {_NEWEST} AND {{seen}}
ORDER BY CASE c.outcome WHEN 'good' THEN 1 ELSE 0 END, d.namespace, d.name, c.oracle LIMIT :most
"""
_HIDDEN = f"SELECT COUNT(*) {_NEWEST} AND NOT ({{seen}})"

# As freshness judges: what is declared, an hour of a stream, what was learned.
_IN_FORCE = f"""
SELECT p.declared_limit_seconds AS declared,
  CASE WHEN {IS_STREAM} THEN {STREAM_LIMIT_SECONDS} END AS streaming,
  l.limit_seconds AS learned
FROM dataset d
LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
LEFT JOIN dataset_activity a ON a.dataset_key = d.dataset_key
LEFT JOIN dataset_limit l ON l.dataset_key = d.dataset_key
WHERE d.dataset_key = :key
"""  # noqa: S608 - a constant
_ORIGINS = ("declared", "streaming", "learned")  # columns of `_IN_FORCE`


class EdgeCheck(msgspec.Struct, frozen=True):
    """Edge into the dataset, as one oracle found it: good, edge_missing or edge_wrong."""

    written_at: IsoTime
    dataset_namespace: str
    dataset: str
    outcome: str
    oracle: str
    producer: str
    adapter_version: str
    root_run_id: str


class EdgeChecks(msgspec.Struct, frozen=True):
    """Checks of the newest run that was checked."""

    checks: list[EdgeCheck]
    hidden: int  # of what may not be seen
    partial_reason: str | None


def edge_checks(
    reader: CatalogReader, named: KnownDataset, visibility: Visibility = EVERYTHING
) -> EdgeChecks:
    """List the visible checks of edges, failed ones first."""
    condition, names = sql_filter(reader, visibility)
    of = {"key": named[0], **names}
    rows = reader.rows(_CHECKS.format(seen=condition), {**of, "most": _MOST + 1})
    hidden = reader.rows(_HIDDEN.format(seen=condition), of)[0][0]
    checks = [
        EdgeCheck(**row._asdict() | {"written_at": iso_of(row.written_at)}) for row in rows[:_MOST]
    ]
    return EdgeChecks(checks, hidden, f"the first {_MOST}" if len(rows) > _MOST else None)


class Limit(msgspec.Struct, frozen=True):
    """Limit of the age, and the deadline; null in `deadline_at`: the dataset was never written."""

    seconds: float
    origin: str
    deadline_at: IsoTime | None


def limit_of(reader: CatalogReader, named: KnownDataset, known: DatasetDetail) -> Limit | None:
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
