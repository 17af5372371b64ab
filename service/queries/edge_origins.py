"""Edges that runs tell by a facet or by their SQL, and not by their inputs."""

from collections.abc import Iterable
from typing import Final

from lineage.catalog.reader import Reader, rows_for

Edge = tuple[int, int]  # upstream key, downstream key

ORIGIN_WORDS: Final = {
    "column_lineage": "column lineage",
    "lineage_facet": "lineage facet",
    "sql": "SQL",
    "foreach_batch": "foreachBatch",
}
_ANY: Final = "SELECT 1 FROM edge WHERE origin IS NOT NULL LIMIT 1"
# An edge that another job names by its inputs has no origin.
_ORIGINS: Final = """
SELECT e.upstream_key, e.downstream_key, MIN(e.origin) AS origin FROM edge e
WHERE e.origin IS NOT NULL AND e.downstream_key IN (:keys) AND NOT EXISTS (
  SELECT 1 FROM edge o WHERE o.upstream_key = e.upstream_key
  AND o.downstream_key = e.downstream_key AND o.origin IS NULL)
GROUP BY e.upstream_key, e.downstream_key
"""


def edge_origins(reader: Reader, downstream: Iterable[int]) -> dict[Edge, str]:
    """Return the origin of each edge into these datasets that no run names by its inputs."""
    if not reader.rows(_ANY):  # most catalogs have none, and a walk may be of 5,000 datasets
        return {}
    return {(up, down): origin for up, down, origin in rows_for(reader, _ORIGINS, downstream)}
