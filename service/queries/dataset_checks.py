"""Checks of the edges into a dataset: events compared with evidence."""

import msgspec

from lineage.catalog.reader import CatalogReader
from service.api.access.visibility import EVERYTHING, Visibility
from service.queries.dataset_lookup import Dataset
from service.queries.run_shapes import Instant
from service.queries.timestamps import iso_of
from service.queries.visible import sql_filter

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


class EdgeCheck(msgspec.Struct, frozen=True):
    """Edge into the dataset, as one oracle found it: good, edge_missing or edge_wrong."""

    written_at: Instant
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
    reader: CatalogReader, named: Dataset, visibility: Visibility = EVERYTHING
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
