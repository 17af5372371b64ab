"""What events told of the edges into a dataset, beside what evidence says of them."""

import msgspec

from lineage.catalog.reader import Reader
from service.access.sight import EVERYTHING, Sight
from service.answers.moments import iso_of
from service.answers.named import Dataset
from service.answers.run_shapes import Instant

_MOST = 200
# Of each edge and oracle the newest; one that is not good before those that are.
_CHECKS = """
SELECT c.written_at, d.namespace, d.name, c.outcome, c.oracle, c.producer, c.adapter_version,
  c.root_run_id
FROM edge_check c JOIN dataset d ON d.dataset_key = c.upstream_key
WHERE c.downstream_key = :key AND c.written_at = (
  SELECT MAX(l.written_at) FROM edge_check l WHERE l.downstream_key = c.downstream_key
  AND l.upstream_key = c.upstream_key AND l.oracle = c.oracle)
ORDER BY CASE c.outcome WHEN 'good' THEN 1 ELSE 0 END, d.namespace, d.name, c.oracle LIMIT :most
"""


class EdgeCheck(msgspec.Struct, frozen=True):
    """One edge into the dataset, as one oracle found it: good, edge_missing or edge_wrong."""

    written_at: Instant
    dataset_namespace: str
    dataset: str
    outcome: str
    oracle: str
    producer: str
    adapter_version: str
    root_run_id: str


class EdgeChecks(msgspec.Struct, frozen=True):
    """Those of the newest run that was checked."""

    checks: list[EdgeCheck]
    partial_reason: str | None


def edge_checks(reader: Reader, named: Dataset, sight: Sight = EVERYTHING) -> EdgeChecks:
    """What is wrong first; of what may be seen."""
    rows = reader.rows(_CHECKS, {"key": named[0], "most": _MOST + 1})
    shown = [row for row in rows[:_MOST] if sight.sees(row[1])]
    checks = [EdgeCheck(iso_of(at), *told) for at, *told in shown]
    return EdgeChecks(checks, f"the first {_MOST}" if len(rows) > _MOST else None)
