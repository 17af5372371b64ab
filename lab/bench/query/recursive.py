"""Baseline: the queries as one recursive query of the catalog, timed without the service."""

import statistics
import time
from collections.abc import Iterable
from typing import Final

from lineage.catalog.queries import JOIN_WORST_STATE
from lineage.catalog.reader import open_reader

# Both directions to a depth: each dataset at each of its distances, as a recursive query finds it.
_LINEAGE = f"""
WITH RECURSIVE down(dataset_key, depth) AS (
  SELECT CAST(:key AS BIGINT), 0 UNION
  SELECT e.downstream_key, r.depth + 1 FROM down r JOIN edge e ON e.upstream_key = r.dataset_key
  WHERE r.depth < 20
), up(dataset_key, depth) AS (
  SELECT CAST(:key AS BIGINT), 0 UNION
  SELECT e.upstream_key, r.depth + 1 FROM up r JOIN edge e ON e.downstream_key = r.dataset_key
  WHERE r.depth < 20
)
SELECT d.namespace, d.name, s.state, MIN(f.depth)
FROM (SELECT * FROM down UNION SELECT * FROM up) AS f
JOIN dataset d ON d.dataset_key = f.dataset_key
{JOIN_WORST_STATE}
GROUP BY d.namespace, d.name, s.state
"""  # noqa: S608 - a constant
_IMPACT = f"""
WITH RECURSIVE down(dataset_key) AS (
  SELECT CAST(:key AS BIGINT) UNION
  SELECT e.downstream_key FROM down r JOIN edge e ON e.upstream_key = r.dataset_key
)
SELECT d.namespace, d.name, p.tier, p.owner, s.state
FROM down f JOIN dataset d ON d.dataset_key = f.dataset_key
LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
{JOIN_WORST_STATE}
"""  # noqa: S608 - a constant
QUERIES: Final = {"lineage": _LINEAGE, "impact": _IMPACT}
_ROUNDS = 20


def recursive(catalog_url: str, name: str | None, keys: Iterable[int]) -> float | None:
    """Return median milliseconds of one of `QUERIES`, from each of these datasets; none of none."""
    if name is None:
        return None
    wanted = list(keys)
    with open_reader(catalog_url) as reader:
        took = []
        for number in range(_ROUNDS):
            began = time.perf_counter()
            reader.rows(QUERIES[name], {"key": wanted[number % len(wanted)]})
            took.append(1_000 * (time.perf_counter() - began))
    return round(statistics.median(took), 1)
