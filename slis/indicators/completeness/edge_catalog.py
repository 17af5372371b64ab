"""Catalog and policy rows for the completeness of edges."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from sqlalchemy import Engine

from lineage.catalog.queries import COUNTED_RUN, LIMIT_IN_FORCE, WITH_RETIREMENT
from lineage.policy import Policy
from lineage.policy.resolution import declared_edges
from lineage.policy.tiers import MIN_RUNS
from lineage.process.clock import DAY_MICROS
from slis.evaluation import catalog_frames
from slis.indicators.completeness.edges import OFTEN
from slis.indicators.completeness.schemas import EXPECTED_EDGES, NAMES

_OF_DATASET = f"""
    p.tier, p.tier_origin, coalesce(p.is_regulated, 1 = 0),
    {LIMIT_IN_FORCE}, {{cadence}}, {{writes}}, a.last_written_at
"""
_ROOT_RUN_DAYS, _FEW_WRITES = 30, 500
# Edges count root runs, and a long application has a write for each hour. Both times are compared
# by root runs: only where an edge would be too rare otherwise, for they are counted at each pass.
_CADENCE = f"""
    CASE WHEN e.runs > 1
        AND e.last_seen_at - e.first_seen_at > {OFTEN}e6 * l.cadence_seconds * (e.runs - 1)
        THEN coalesce((
            SELECT CASE WHEN count(*) >= 2 * count(DISTINCT {COUNTED_RUN}) THEN
                (max(w.written_at) - min(w.written_at)) / 1e6
                / nullif(count(DISTINCT {COUNTED_RUN}) - 1, 0) END
            FROM dataset_write w WHERE w.dataset_key = e.downstream_key
                AND w.written_at > e.last_seen_at - {_ROOT_RUN_DAYS * DAY_MICROS}
        ), l.cadence_seconds) ELSE l.cadence_seconds END
"""  # noqa: S608 - our own columns
_WRITES = f"""
    CASE WHEN l.cadence_seconds IS NULL AND a.writes > 2 * e.runs AND a.writes <= {_FEW_WRITES}
        THEN (SELECT count(DISTINCT {COUNTED_RUN}) FROM dataset_write w
            WHERE w.dataset_key = e.downstream_key) ELSE a.writes END
"""  # noqa: S608 - likewise
_JOINED = """
    JOIN dataset d ON d.dataset_key = {dataset} AND d.retired_at IS NULL
        AND d.canonical_key = d.dataset_key
    JOIN dataset_policy p ON p.dataset_key = d.dataset_key
    LEFT JOIN dataset_activity a ON a.dataset_key = d.dataset_key
    LEFT JOIN dataset_limit l ON l.dataset_key = d.dataset_key
    {retirement}
"""
_EDGES = f"""
    SELECT e.upstream_key, e.downstream_key, nullif(e.job_name, ''), e.first_seen_at,
        e.last_seen_at, e.last_reported_at, e.runs, e.runs = 0,
        {_OF_DATASET.format(cadence=_CADENCE, writes=_WRITES)}
    FROM edge e {_JOINED.format(dataset="e.downstream_key", retirement=WITH_RETIREMENT)}
    WHERE t.dataset_key IS NULL AND e.upstream_key <> e.downstream_key
        AND (e.runs >= {MIN_RUNS} OR coalesce(e.last_reported_at, 0) < e.last_seen_at)
"""  # noqa: S608 - our own tables
_DECLARED = f"""
    WITH x (upstream_key, dataset_key) AS (VALUES {{pairs}})
    SELECT x.upstream_key, d.dataset_key, NULL, d.first_seen_at, d.first_seen_at,
        (SELECT max(e.last_reported_at) FROM edge e
            WHERE e.upstream_key = x.upstream_key AND e.downstream_key = d.dataset_key),
        (SELECT coalesce(sum(e.runs), 0) FROM edge e
            WHERE e.upstream_key = x.upstream_key AND e.downstream_key = d.dataset_key),
        1 = 1, {_OF_DATASET.format(cadence="l.cadence_seconds", writes="a.writes")}
    FROM x {_JOINED.format(dataset="x.dataset_key", retirement=WITH_RETIREMENT)}
    WHERE t.dataset_key IS NULL
"""  # noqa: S608 - our own tables
_NAMES = "SELECT dataset_key, namespace, name FROM dataset"


def expected_edges(spark: SparkSession, engine: Engine, policy: Policy) -> DataFrame:
    """Return `completeness.schemas.EXPECTED_EDGES`: what the policy declares, and what was seen.

    An edge that the policy declares is there once, whichever jobs it was seen of.
    """
    seen = catalog_frames.frame(spark, engine, _EDGES, EXPECTED_EDGES)
    pairs = ", ".join(
        f"({upstream}, {downstream})" for upstream, downstream in declared_edges(policy)
    )
    if not pairs:
        return seen
    named = catalog_frames.frame(spark, engine, _DECLARED.format(pairs=pairs), EXPECTED_EDGES)
    keys = ["upstream_key", "downstream_key"]
    return seen.join(F.broadcast(named.select(*keys)), keys, "left_anti").unionByName(named)


def names(spark: SparkSession, engine: Engine) -> DataFrame:
    """Return `completeness.schemas.NAMES` of all datasets."""
    return catalog_frames.frame(spark, engine, _NAMES, NAMES)
