"""Owners that ownership facets give to a dataset, and that only jobs of others report."""

from typing import Final

_OWN: Final = """
    SELECT DISTINCT m.canonical_key AS dataset_key, p.job_namespace
    FROM dataset_producer p JOIN dataset m ON m.dataset_key = p.dataset_key
"""
# Of datasets that some job writes: else there is nobody to ask. An event without a run may be that
# of a catalog of tables, which no dataset has as its writer.
FOREIGN_OWNERS: Final = f"""
    SELECT s.dataset_key, s.value AS owner
    FROM (SELECT n.canonical_key AS dataset_key, c.value, c.job_namespace
        FROM attribute_claim c JOIN dataset n ON n.dataset_key = c.dataset_key
        WHERE c.kind = 'owner') AS s
    LEFT JOIN ({_OWN}) AS w ON w.dataset_key = s.dataset_key AND w.job_namespace = s.job_namespace
    WHERE s.dataset_key IN (SELECT o.dataset_key FROM ({_OWN}) AS o)
    GROUP BY s.dataset_key, s.value
    HAVING max(CASE WHEN w.job_namespace IS NULL AND s.job_namespace <> '' THEN 0 ELSE 1 END) = 0
"""  # noqa: S608 - our own tables
