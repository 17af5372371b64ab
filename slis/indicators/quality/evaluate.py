"""Results of an evaluation of the content of datasets."""

from datetime import timedelta
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from sqlalchemy import Engine

from lineage.catalog.queries import COUNTED_RUN, FOREIGN_OWNERS, NO_TIER, is_listed, rank_of
from lineage.policy import Policy
from lineage.policy.resolution import declared_edges
from lineage.process.clock import to_micros
from lineage.states import BAD, CRITICAL, FACTS, OPTIONAL, REASONS, TIERS
from slis.evaluation import catalog_frames
from slis.evaluation.input import EvaluationRange
from slis.indicators.quality import assertions, foreign_claims, schema_mismatch, unexpected_source
from slis.indicators.quality.assertions import failed_assertions
from slis.indicators.quality.schema_mismatch import schema_mismatches
from slis.indicators.quality.schemas import (
    ASSERTIONS,
    NEW_SOURCES,
    REJECTED_CLAIMS,
    VERSIONED_WRITES,
)
from slis.indicators.quality.unexpected_source import unexpected_sources

_DAY = timedelta(days=1)
_LOOK_BACK_DAYS = 30  # for the write before a change
_LIVE = is_listed()
_FAILED = f"""
    SELECT t.dataset_key, t.assertion, t.column_name, t.name, t.severity, t.expected, t.actual,
        t.last_failed_at, t.last_passed_at
    FROM dataset_assertion t JOIN dataset d ON d.dataset_key = t.dataset_key
    WHERE t.last_failed_at >= {{since}} AND {_LIVE}
    AND (t.last_passed_at IS NULL OR t.last_failed_at >= t.last_passed_at)
"""  # noqa: S608 - our own words
# Only datasets that were given a schema within the days that a change stands, and had another.
_WRITES = f"""
    SELECT w.dataset_key, w.job_namespace, w.job_name, w.root_run_id, w.written_at, w.schema_key,
        v.fields, w.code_version
    FROM dataset_write w JOIN dataset d ON d.dataset_key = w.dataset_key
    JOIN schema_version v ON v.dataset_key = w.dataset_key AND v.schema_key = w.schema_key
    WHERE w.code_version IS NOT NULL AND w.written_at >= {{look_back}} AND {_LIVE}
    AND w.dataset_key IN (
        SELECT n.dataset_key FROM schema_version n WHERE n.first_seen_at >= {{since}}
        AND EXISTS (SELECT 1 FROM schema_version o WHERE o.dataset_key = n.dataset_key
            AND o.schema_key <> n.schema_key AND o.first_seen_at < n.first_seen_at))
"""  # noqa: S608 - our own words
# An inferred input is no news: on the day of an upgrade all of them would be unexpected.
# An edge with no run is declared by a JobEvent; `expect_inputs` of the policy come as {declared}.
_SOURCES = f"""
    SELECT e.downstream_key, u.namespace, u.name, max(e.job_name), min(e.first_seen_at),
        (SELECT count(DISTINCT {COUNTED_RUN}) FROM dataset_write w
            WHERE w.dataset_key = e.downstream_key AND w.written_at < min(e.first_seen_at))
    FROM edge e JOIN dataset d ON d.dataset_key = e.downstream_key AND {_LIVE}
    JOIN dataset u ON u.dataset_key = e.upstream_key
    WHERE e.downstream_key IN (SELECT dataset_key FROM dataset_policy
            WHERE is_regulated OR tier = '{CRITICAL}' AND tier_origin = 'declared')
        AND e.upstream_key <> e.downstream_key AND e.origin IS NULL
        AND (e.upstream_key, e.downstream_key) NOT IN (VALUES {{declared}})
    GROUP BY e.upstream_key, e.downstream_key, u.namespace, u.name
    HAVING min(e.first_seen_at) >= {{since}} AND min(e.runs) > 0
"""  # noqa: S608 - our own words


def _rank(tier: str) -> str:
    return rank_of(tier, TIERS, NO_TIER)


# Only datasets that the policy holds to something: claims about others are listed by the lint.
# A name that nobody writes and the policy does not declare is claimed of the dataset, not from it.
_CLAIMED = f"""
    SELECT d.canonical_key, c.rule, c.job_namespace, NULL, o.namespace, o.name, c.last_landed_at
    FROM dataset_claim c JOIN dataset n ON n.dataset_key = c.alias_key
    JOIN dataset d ON d.dataset_key = n.canonical_key AND {_LIVE}
    JOIN dataset_policy p ON p.dataset_key = d.dataset_key
        AND (p.is_declared OR p.tier <> '{OPTIONAL}')
    JOIN dataset o ON o.dataset_key = c.dataset_key
    WHERE c.is_refused AND c.last_landed_at >= {{since}} AND NOT EXISTS (
        SELECT 1 FROM dataset_alias a WHERE a.rule = 'policy' AND a.alias_key = c.alias_key)
    UNION ALL
    SELECT d.canonical_key, c.rule, c.job_namespace, NULL, c.namespace, c.name, c.last_landed_at
    FROM dataset_claim c JOIN dataset n ON n.dataset_key = c.dataset_key
    JOIN dataset d ON d.dataset_key = n.canonical_key AND {_LIVE}
    JOIN dataset_policy p ON p.dataset_key = d.dataset_key
        AND (p.is_declared OR p.tier <> '{OPTIONAL}')
    WHERE c.is_refused AND c.rule = 'symlink' AND c.last_landed_at >= {{since}}
    AND NOT EXISTS (
        SELECT 1 FROM dataset_alias a WHERE a.rule = 'policy' AND a.alias_key = c.alias_key)
    AND NOT EXISTS (SELECT 1 FROM dataset o WHERE o.dataset_key = c.alias_key AND o.is_declared)
    AND NOT EXISTS (SELECT 1 FROM dataset_producer w WHERE w.dataset_key = c.alias_key
        OR w.dataset_key = c.dataset_key AND w.job_namespace = c.job_namespace)
    UNION ALL
    SELECT d.canonical_key, c.kind, c.job_namespace, c.job_name,
        CASE c.kind WHEN 'tier' THEN p.tier ELSE coalesce(p.owner, 'nobody') END, c.value,
        c.last_landed_at
    FROM attribute_claim c JOIN dataset n ON n.dataset_key = c.dataset_key
    JOIN dataset d ON d.dataset_key = n.canonical_key AND {_LIVE}
    JOIN dataset_policy p ON p.dataset_key = d.dataset_key
        AND (p.is_declared OR p.tier <> '{OPTIONAL}')
    WHERE c.last_landed_at >= {{since}} AND (
        c.kind = 'tier' AND (p.is_declared AND c.value <> p.tier
            OR {_rank("c.value")} < {_rank("p.tier")})
        OR c.kind = 'owner' AND c.value <> coalesce(p.owner, '')
            AND (d.dataset_key, c.value) IN ({FOREIGN_OWNERS}))
"""  # noqa: S608 - our own words


def defects_found(
    spark: SparkSession, engine: Engine, policy: Policy, at: EvaluationRange, instants: DataFrame
) -> tuple[pa.Table, ...]:
    """Return `sli_schemas.STATES` of `facts`; no Spark job if nothing failed, changed or is new."""
    tested = catalog_frames.read_frame(
        engine, _FAILED.format(since=_since(at, assertions.STANDS_DAYS)), ASSERTIONS
    )
    changed = _WRITES.format(
        since=_since(at, schema_mismatch.STANDS_DAYS), look_back=_since(at, _LOOK_BACK_DAYS)
    )
    written = catalog_frames.read_frame(engine, changed, VERSIONED_WRITES)
    # No dataset has the key 0: the list must not be empty.
    declared = ", ".join(f"({up}, {down})" for up, down in {(0, 0), *declared_edges(policy)})
    sources = _SOURCES.format(since=_since(at, unexpected_source.STANDS_DAYS), declared=declared)
    fresh = catalog_frames.read_frame(engine, sources, NEW_SOURCES)
    claimed = catalog_frames.read_frame(
        engine, _CLAIMED.format(since=_since(at, foreign_claims.STANDS_DAYS)), REJECTED_CLAIMS
    )
    parts = (
        (tested, ASSERTIONS, failed_assertions),
        (written, VERSIONED_WRITES, schema_mismatches),
        (fresh, NEW_SOURCES, unexpected_sources),
        (claimed, REJECTED_CLAIMS, foreign_claims.foreign_claims),
    )
    # Planning takes as long for an empty kind of defect.
    defects = [
        find(_few(spark, table, columns), instants)
        for table, columns, find in parts
        if table.num_rows
    ]
    if not defects:
        return ()
    return (defect_states(reduce(DataFrame.unionByName, defects)).toArrow(),)


def _few(spark: SparkSession, table: pa.Table, columns: str) -> DataFrame:
    # One partition needs no shuffle.
    return spark.createDataFrame(table, columns).coalesce(1)


def _since(at: EvaluationRange, days: int) -> int:
    return to_micros(at.as_of - days * _DAY)


def defect_states(defects: DataFrame) -> DataFrame:
    """Return one bad state per dataset; its evidence lists the other problems.

    Args:
        defects: `quality.schemas.DEFECTS`, at most one row per dataset, instant and reason.

    Returns:
        `sli_schemas.STATES`, of the datasets that have a defect. Nothing is good here: that no
        test failed says nothing of what nobody tested.
    """
    order = F.array_position(F.array(*map(F.lit, REASONS)), F.col("reason"))
    finding = F.struct(order.alias("place"), "reason", "evidence")
    all_findings = F.sort_array(F.collect_list(finding)).alias("findings")
    null = F.lit(None)
    return (
        defects.groupBy("as_of", "dataset_key")
        .agg(all_findings)
        .select(
            *("as_of", "dataset_key", F.lit(FACTS).alias("sli"), F.lit(BAD).alias("state")),
            F.col("findings")[0]["reason"].alias("reason"),
            F.array_join("findings.evidence", "; also ").alias("evidence"),
            *(null.cast("double").alias(name) for name in ("age_seconds", "limit_seconds")),
            null.cast("string").alias("limit_origin"),
        )
    )
