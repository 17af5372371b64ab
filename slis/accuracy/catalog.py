"""What accuracy reads of the catalog, and what it writes into it."""

from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from sqlalchemy import Engine, Row, TextClause, text

from lineage.catalog.engine import writing
from lineage.clock import to_micros
from lineage.keys import key
from slis import catalog_frames
from slis.accuracy.checks import checks
from slis.accuracy.schemas import CHECKS, LATEST, TOLD

WINDOW = timedelta(days=30)
# Of a group of executions, what all of them read was read for what each of them writes.
_EVIDENCE = """
    SELECT a.root_run_id, wd.canonical_key, rd.canonical_key, rd.namespace, rd.name,
        (SELECT min(CASE WHEN g.is_whole THEN 1 ELSE 0 END) FROM execution g
            WHERE g.group_key = w.group_key) = 1
    FROM application a
    JOIN execution w ON w.application_id = a.application_id AND w.error_message IS NULL
    JOIN execution_io wi ON wi.direction = 'write'
        AND (wi.execution_key = w.execution_key OR wi.execution_key = w.stream_key)
    JOIN dataset wd ON wd.dataset_key = wi.dataset_key
    LEFT JOIN execution r ON r.group_key = w.group_key
    LEFT JOIN execution_io ri ON ri.direction = 'read'
        AND (ri.execution_key = r.execution_key OR ri.execution_key = r.stream_key)
    LEFT JOIN dataset rd ON rd.dataset_key = ri.dataset_key
    WHERE a.root_run_id IS NOT NULL AND a.application_id IN ({due})
"""
_REPORTED = """
    SELECT e.root_run_id, e.downstream_key, e.upstream_key, d.namespace, d.name, 1 = 1
    FROM edge_run e JOIN dataset d ON d.dataset_key = e.upstream_key
    WHERE e.is_reported AND e.root_run_id IN (
        SELECT root_run_id FROM application WHERE application_id IN ({due}))
"""
_DUE = """
    SELECT application_id FROM execution WHERE is_settled AND NOT is_checked
"""
_VERSIONS = """
    SELECT r.root_run_id, max(r.producer) AS producer, max(r.adapter_version) AS adapter_version,
        max(r.engine_version) AS engine_version, max(r.code_version) AS code_version
    FROM run r WHERE coalesce(r.evidence, '') <> 'alone' AND r.root_run_id IN (
        SELECT root_run_id FROM application WHERE application_id IN ({due}))
    GROUP BY r.root_run_id
"""
_KEEP = """
    INSERT INTO edge_check (upstream_key, downstream_key, job_key, job_version, outcome,
        root_run_id, producer, adapter_version, first_checked_at, checked_at)
    SELECT :upstream_key, :downstream_key, w.job_key, :job_version, :outcome, w.root_run_id,
        :producer, :adapter_version, :at, :at
    FROM dataset_write w WHERE w.dataset_key = :downstream_key AND w.root_run_id = :root_run_id
    ORDER BY w.bucket LIMIT 1
    ON CONFLICT (upstream_key, downstream_key, job_key, job_version, outcome) DO UPDATE SET
        root_run_id = excluded.root_run_id, checked_at = excluded.checked_at
"""
_DONE = "UPDATE execution SET is_checked = (1 = 1) WHERE is_settled AND NOT is_checked"
_CHECKS = """
    SELECT c.producer, c.adapter_version, p.tier, p.tier_origin, c.outcome,
        c.counted_at IS NOT NULL
    FROM edge_check c JOIN dataset_policy p ON p.dataset_key = c.downstream_key
    WHERE c.counted_at IS NULL OR c.checked_at >= {since}
"""
_LATEST = """
    SELECT c.downstream_key, c.root_run_id, u.namespace, u.name, c.outcome FROM edge_check c
    JOIN dataset u ON u.dataset_key = c.upstream_key
    JOIN dataset d ON d.dataset_key = c.downstream_key AND d.retired_at IS NULL
        AND d.canonical_key = d.dataset_key
    WHERE c.checked_at >= {since} AND c.checked_at = (
        SELECT max(l.checked_at) FROM edge_check l WHERE l.downstream_key = c.downstream_key)
"""


def compare(spark: SparkSession, engine: Engine, now: datetime) -> int:
    """Compare the evidence that was not compared yet with what events told; how many edges."""
    with engine.connect() as connection:
        if connection.execute(text(f"{_DUE} LIMIT 1")).first() is None:
            return 0
        versions = {row.root_run_id: row for row in connection.execute(_due(_VERSIONS))}
    evidence = catalog_frames.frame(spark, engine, _EVIDENCE.format(due=_DUE), TOLD)
    reported = catalog_frames.frame(spark, engine, _REPORTED.format(due=_DUE), TOLD)
    found = catalog_frames.rows(checks(evidence, reported))
    at = to_micros(now)
    rows = [{**row, **_version(versions[row["root_run_id"]]), "at": at} for row in found]
    with writing(engine) as connection:
        if rows:
            connection.execute(text(_KEEP), rows)
        connection.execute(text(_DONE))
    return len(rows)


def _due(query: str) -> TextClause:
    return text(query.format(due=_DUE))


def _version(run: Row[tuple[str, str, str, str, str]]) -> dict[str, Any]:
    """What an edge is checked once for: the code that ran, and who reported it."""
    texts = (run.producer, run.adapter_version, run.engine_version, run.code_version)
    return {
        "job_version": key(*(one or "" for one in texts)),
        "producer": run.producer or "unknown",
        "adapter_version": run.adapter_version or "unknown",
    }


def standing_checks(spark: SparkSession, engine: Engine, as_of: datetime) -> DataFrame:
    """`accuracy.schemas.CHECKS` of the last 30 days, and those that are not counted."""
    query = _CHECKS.format(since=to_micros(as_of - WINDOW))
    return catalog_frames.frame(spark, engine, query, CHECKS)


def latest_checks(spark: SparkSession, engine: Engine, as_of: datetime) -> DataFrame:
    """`accuracy.schemas.LATEST`: of each dataset, what its last compared run showed."""
    query = _LATEST.format(since=to_micros(as_of - WINDOW))
    return catalog_frames.frame(spark, engine, query, LATEST)
