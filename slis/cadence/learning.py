"""Limits learned again for the datasets that were written since theirs were learned."""

from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from sqlalchemy import Connection, Engine, bindparam, text, update

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.upsert import fold_rows
from lineage.policy import DEFAULT, Policy
from lineage.process.clock import HOUR_MICROS, to_micros
from lineage.sli_limits import HISTORY_DAYS, SLOW_CADENCE_SECONDS, SLOW_HISTORY_DAYS
from slis.cadence import cadence, cadence_limits, known_writes
from slis.cadence.deliveries import LONG_RUN_MICROS
from slis.cadence.estate_pools import (
    DatasetScores,
    estate_scores,
    load_scores,
    merge_scores,
    sampled_scores,
    scores_frame,
    store_scores,
)
from slis.cadence.profile import FAST_SECONDS
from slis.cadence.working_time import working_time
from slis.evaluation import catalog_frames
from slis.evaluation.ingestion_gaps import SILENCES
from slis.evaluation.sli_schemas import FAILURES, GAPS, WRITES

# Bounds one evaluation's share of the work: after a history load the rest follows in the next ones.
MAX_DATASETS = 5_000
MAX_WRITES = 500_000
_FAST_RELEARN = timedelta(minutes=15)
_PLANS = "SELECT DISTINCT plan FROM dataset_policy WHERE plan IS NOT NULL"
_PLANNED_WRITES = f"{WRITES.rstrip()}, plan string"

# A single write has no gap to learn from.
_DUE = """
    SELECT dataset_key, writes FROM (
        SELECT a.dataset_key, a.writes, coalesce(l.learned_at, 0) AS learned_at,
            sum(CASE WHEN a.writes < {each} THEN a.writes ELSE {each} END) OVER (
                ORDER BY coalesce(l.learned_at, 0), a.dataset_key
            ) AS work
        FROM dataset_activity a LEFT JOIN dataset_limit l ON l.dataset_key = a.dataset_key
        WHERE a.writes > a.learned_writes AND a.writes > 1 AND (
            l.learned_at IS NULL OR l.cadence_seconds IS NULL
            OR l.cadence_seconds >= {fast} OR l.learned_at <= {relearn})
    ) AS waiting
    WHERE work <= {work} ORDER BY learned_at, dataset_key LIMIT {most}
"""
_WRITES = """
    SELECT w.dataset_key, w.root_run_id, '', '', w.written_at, w.landed_at, w.nominal_start_at,
        w.partition, w.names_input, w.is_reported, w.is_streaming, w.is_history, p.plan
    FROM dataset_write w LEFT JOIN dataset_policy p ON p.dataset_key = w.dataset_key
    LEFT JOIN dataset_limit l ON l.dataset_key = w.dataset_key
    WHERE w.written_at > CASE WHEN l.cadence_seconds < {slow} THEN {since} ELSE {slow_since} END
    AND w.dataset_key IN (SELECT dataset_key FROM ({due}) AS due)
"""
# How long a root run took; of one that writes for hours, how long the query took that wrote last
# in each hour.
_DURATIONS = """
    WITH written AS (
        SELECT w.dataset_key, w.root_run_id, w.written_at,
            max(w.written_at) OVER roots - min(w.written_at) OVER roots >= {long_run} AS is_long
        FROM dataset_write w WHERE w.written_at > {since} AND NOT w.is_streaming
            AND w.dataset_key IN (SELECT dataset_key FROM ({due}) AS due)
        WINDOW roots AS (PARTITION BY w.dataset_key, w.root_run_id)
    )
    SELECT w.dataset_key, (max(r.completed_at) - min(r.started_at)) / 1e6
    FROM written w JOIN run r ON r.root_run_id = w.root_run_id
    WHERE NOT w.is_long AND r.started_at IS NOT NULL
    GROUP BY w.dataset_key, w.root_run_id HAVING max(r.completed_at) IS NOT NULL
    UNION ALL
    SELECT w.dataset_key, (r.completed_at - r.started_at) / 1e6
    FROM written w JOIN run r ON r.root_run_id = w.root_run_id
        AND r.started_at > w.written_at - {hour} AND r.started_at <= w.written_at
        AND r.completed_at = w.written_at
    WHERE w.is_long
"""
_DURATION_DAYS = 30
# A query of such a root run that took longer is left out: its runs are found by their START.
_LONG = {"long_run": LONG_RUN_MICROS, "hour": HOUR_MICROS}
_FAILURES = """
    SELECT d.canonical_key, r.failed_at FROM run r
    JOIN run_io io ON io.run_key = r.run_key AND io.direction = 'write'
    JOIN dataset d ON d.dataset_key = io.dataset_key
    WHERE r.failed_at > {since}
    AND d.canonical_key IN (SELECT dataset_key FROM ({due}) AS due)
"""


def learn_limits(
    spark: SparkSession, engine: Engine, as_of: datetime, *, policy: Policy = DEFAULT
) -> int:
    """Learn limits, usual durations and cadences; bounded, the longest unlearned first.

    Args:
        spark: the session.
        engine: of the catalog.
        as_of: what is written later is not known.
        policy: says what time counts.

    Returns:
        How many datasets were learned.
    """
    due_query = _DUE.format(
        fast=FAST_SECONDS,
        relearn=to_micros(as_of - _FAST_RELEARN),
        most=MAX_DATASETS,
        each=known_writes.MAX_WRITES,
        work=MAX_WRITES,
    )
    with engine.connect() as connection:
        due = {row.dataset_key: row.writes for row in connection.execute(text(due_query))}
        stored = load_scores(connection)
    if not due:
        return 0
    source = _Source(spark, engine, due_query, as_of)
    times = {plan: working_time(policy, plan) for plan in {None, *source.plans()}}
    profiles = cadence.profiles(
        source.writes(), source.gaps(), source.failures(), instants=[as_of], times=times
    ).persist()
    try:
        learned_at = to_micros(as_of)
        fresh = [
            DatasetScores(**row.asDict(), learned_at=learned_at)
            for row in sampled_scores(profiles).collect()
        ]
        estate = estate_scores(profiles, scores_frame(spark, stored))
        tails = cadence_limits.pools(estate).drop("as_of")
        limits = cadence_limits.limits(cadence_limits.with_tails(profiles, tails), times)
        rows = catalog_frames.frame_rows(limits.join(source.durations(), "dataset_key", "left"))
    finally:
        profiles.unpersist()
    with exclusive_transaction(engine) as connection:
        _keep_limits(connection, [row for row in rows if row["dataset_key"] in due], as_of)
        _keep_learned(connection, due)
        store_scores(connection, stored, merge_scores(stored, fresh, as_of))
    return len(due)


class _Source:
    """Frames of what is due, read from the catalog."""

    def __init__(
        self, spark: SparkSession, engine: Engine, due_query: str, as_of: datetime
    ) -> None:
        self._spark, self._engine = spark, engine
        self._due = due_query
        self._as_of = as_of

    def _query(self, query: str, days: int) -> str:
        since = to_micros(self._as_of - timedelta(days=days))
        slow_since = to_micros(self._as_of - timedelta(days=SLOW_HISTORY_DAYS))
        return query.format(
            since=since, due=self._due, slow=SLOW_CADENCE_SECONDS, slow_since=slow_since, **_LONG
        )

    def writes(self) -> DataFrame:
        query = self._query(_WRITES, HISTORY_DAYS)
        return catalog_frames.frame(self._spark, self._engine, query, _PLANNED_WRITES)

    def plans(self) -> list[str]:
        with self._engine.connect() as connection:
            return list(connection.scalars(text(_PLANS)))

    def gaps(self) -> DataFrame:
        return catalog_frames.frame(self._spark, self._engine, SILENCES, GAPS)

    def failures(self) -> DataFrame:
        query = self._query(_FAILURES, HISTORY_DAYS)
        return catalog_frames.frame(self._spark, self._engine, query, FAILURES)

    def durations(self) -> DataFrame:
        """Return (dataset_key, duration_seconds): the median of the last 30 days."""
        columns = "dataset_key bigint, seconds double"
        query = self._query(_DURATIONS, _DURATION_DAYS)
        runs = catalog_frames.frame(self._spark, self._engine, query, columns)
        median = F.median("seconds").alias("duration_seconds")
        return runs.groupBy("dataset_key").agg(median)


def _keep_limits(connection: Connection, rows: list[dict[str, Any]], as_of: datetime) -> None:
    learned = [{**row, "learned_at": to_micros(as_of)} for row in rows]
    fold_rows(connection, tables.dataset_limit, learned)


def _keep_learned(connection: Connection, due: dict[int, int]) -> None:
    table = tables.dataset_activity
    statement = update(table).where(table.c.dataset_key == bindparam("at"))
    rows = [{"at": key, "learned": writes} for key, writes in due.items()]
    connection.execute(statement.values(learned_writes=bindparam("learned")), rows)
