"""Edges of root runs by events, and the writes that the event log has in full."""

from pyspark.sql import DataFrame, SparkSession
from sqlalchemy import Engine

from slis.evaluation import catalog_frames
from slis.indicators.accuracy.schemas import WHOLE

# Of a group of executions, what all of them read was read for what each of them writes.
EVIDENCE = """
    SELECT a.root_run_id, wd.canonical_key AS downstream_key, rd.canonical_key AS upstream_key,
        rd.namespace, rd.name,
        (SELECT min(CASE WHEN g.is_whole THEN 1 ELSE 0 END) FROM execution g
            WHERE g.group_key = w.group_key) = 1 AS is_whole
    FROM application a
    JOIN execution w ON w.application_id = a.application_id AND w.error_message IS NULL
    JOIN execution_io wi ON wi.direction = 'write'
        AND (wi.execution_key = w.execution_key OR wi.execution_key = w.stream_key)
    JOIN dataset wd ON wd.dataset_key = wi.dataset_key
    LEFT JOIN execution r ON r.group_key = w.group_key
    LEFT JOIN execution_io ri ON ri.direction = 'read'
        AND (ri.execution_key = r.execution_key OR ri.execution_key = r.stream_key)
    LEFT JOIN dataset rd ON rd.dataset_key = ri.dataset_key
    WHERE a.root_run_id IS NOT NULL AND a.application_id IN ({applications})
"""
# `SOURCES` of the root runs of a query, by what their runs read and wrote.
REPORTED = """
    SELECT DISTINCT r.root_run_id, wd.canonical_key, rd.canonical_key, u.namespace, u.name, 1 = 1
    FROM run r JOIN run_io w ON w.run_key = r.run_key AND w.direction = 'write'
    JOIN dataset wd ON wd.dataset_key = w.dataset_key
    JOIN run_io i ON i.run_key = r.run_key AND i.direction = 'read' AND i.is_reported
    JOIN dataset rd ON rd.dataset_key = i.dataset_key
    JOIN dataset u ON u.dataset_key = rd.canonical_key
    WHERE r.root_run_id IN ({roots})
"""
WHOLE_OF = """
    SELECT root_run_id, downstream_key FROM ({evidence}) AS shown
    GROUP BY root_run_id, downstream_key
    HAVING min(CASE WHEN is_whole THEN 1 ELSE 0 END) = 1
"""
_OF_ROOTS = "SELECT application_id FROM application WHERE root_run_id IN ({roots})"


def whole_writes(spark: SparkSession, engine: Engine, roots: str) -> DataFrame:
    """Return `accuracy.schemas.WHOLE` of the root runs that a query gives."""
    evidence = EVIDENCE.format(applications=_OF_ROOTS.format(roots=roots))
    return catalog_frames.frame(spark, engine, WHOLE_OF.format(evidence=evidence), WHOLE)
