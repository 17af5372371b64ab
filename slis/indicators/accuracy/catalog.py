"""Catalog rows that accuracy reads and writes."""

from datetime import datetime, timedelta

from pyspark.sql import DataFrame, SparkSession
from sqlalchemy import Engine, text

from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.queries import sql_hour_of, write_bucket
from lineage.process.clock import HOUR_MICROS, to_micros
from lineage.states import EVENT_LOG
from slis.evaluation import catalog_frames
from slis.indicators.accuracy.check_storage import keep_checks
from slis.indicators.accuracy.checks import compare_edges
from slis.indicators.accuracy.reported import EVIDENCE, WHOLE_OF
from slis.indicators.accuracy.schemas import CHECKS, LATEST_CHECKS, SOURCES

WINDOW = timedelta(days=30)
_REPORTED = """
    SELECT e.root_run_id, e.downstream_key, e.upstream_key, d.namespace, d.name, 1 = 1
    FROM edge_run e JOIN dataset d ON d.dataset_key = e.upstream_key
    WHERE e.is_reported AND e.root_run_id IN (
        SELECT root_run_id FROM application WHERE application_id IN ({due}))
"""
_DUE = """
    SELECT application_id FROM execution WHERE is_settled AND NOT is_checked
"""
# Who was believed before the log came is not any more, where it is whole.
_OUTRANKED = f"""
    DELETE FROM edge_check WHERE oracle <> '{EVENT_LOG}'
        AND (root_run_id, downstream_key) IN ({{whole}})
"""  # noqa: S608 - a word of ours
_DONE = "UPDATE execution SET is_checked = (1 = 1) WHERE is_settled AND NOT is_checked"
_CHECKS = """
    SELECT c.producer, c.adapter_version, p.tier, p.tier_origin, c.outcome, c.oracle,
        c.counted_at IS NOT NULL
    FROM edge_check c JOIN dataset_policy p ON p.dataset_key = c.downstream_key
    WHERE c.counted_at IS NULL OR c.checked_at >= {since}
"""
_HOUR = sql_hour_of("c.written_at")
# A finding about one run, never that the run is right, stands until the job's next write had
# as much time to be reported: by another root run, or in a later hour of the same.
_LATEST = f"""
    SELECT c.downstream_key, c.root_run_id, u.namespace, u.name, c.outcome, c.oracle
    FROM edge_check c
    JOIN dataset u ON u.dataset_key = c.upstream_key
    JOIN dataset d ON d.dataset_key = c.downstream_key AND d.retired_at IS NULL
        AND d.canonical_key = d.dataset_key
    WHERE c.checked_at >= {{since}} AND c.written_at = (
        SELECT max(l.written_at) FROM edge_check l WHERE l.downstream_key = c.downstream_key
            AND l.oracle = c.oracle)
    AND (c.oracle = '{EVENT_LOG}' OR NOT EXISTS (
        SELECT 1 FROM dataset_write o JOIN dataset_write n ON n.dataset_key = o.dataset_key
            AND n.job_key = o.job_key AND n.written_at > c.written_at AND n.landed_at <= {{settled}}
            AND (n.root_run_id <> o.root_run_id OR n.written_at >= {_HOUR} + {HOUR_MICROS})
        WHERE o.dataset_key = c.downstream_key AND o.root_run_id = c.root_run_id
            AND o.bucket IN ({_HOUR}, {write_bucket("c.written_at")}, 0)))
"""  # noqa: S608 - our own words


def compare(spark: SparkSession, engine: Engine, now: datetime) -> int:
    """Compare new evidence with the edges of events; return the number of edges."""
    with engine.connect() as connection:
        if connection.execute(text(f"{_DUE} LIMIT 1")).first() is None:
            return 0
    shown = EVIDENCE.format(applications=_DUE)
    evidence = catalog_frames.frame(spark, engine, shown, SOURCES)
    reported = catalog_frames.frame(spark, engine, _REPORTED.format(due=_DUE), SOURCES)
    found = catalog_frames.frame_rows(compare_edges(evidence, reported))
    with exclusive_transaction(engine) as connection:
        keep_checks(connection, [{**row, "oracle": EVENT_LOG} for row in found], to_micros(now))
        whole = WHOLE_OF.format(evidence=shown)
        connection.execute(text(_OUTRANKED.format(whole=whole)))
        connection.execute(text(_DONE))
    return len(found)


def standing_checks(spark: SparkSession, engine: Engine, as_of: datetime) -> DataFrame:
    """Return `accuracy.schemas.CHECKS` of the last 30 days, and those that are not counted."""
    query = _CHECKS.format(since=to_micros(as_of - WINDOW))
    return catalog_frames.frame(spark, engine, query, CHECKS)


def latest_checks(
    spark: SparkSession, engine: Engine, as_of: datetime, settle: timedelta
) -> DataFrame:
    """Return `accuracy.schemas.LATEST_CHECKS`: of each dataset, what its last compared run showed.

    Args:
        spark: the session.
        engine: of the catalog.
        as_of: the instant.
        settle: how long after a write what is held against it may still come.
    """
    since, settled = (to_micros(as_of - ago) for ago in (WINDOW, settle))
    query = _LATEST.format(since=since, settled=settled)
    return catalog_frames.frame(spark, engine, query, LATEST_CHECKS)
