"""M5 of a dataset: critical or important, and read though no write of it is known."""

from datetime import timedelta
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from sqlalchemy import Engine

from lineage.catalog.queries import is_listed
from lineage.process.clock import to_micros
from lineage.states import BAD, MISSING_PROVENANCE, OPTIONAL
from slis.evaluation import catalog_frames
from slis.evaluation.input import EvaluationRange
from slis.evaluation.sli_schemas import UNSOURCED_READS
from slis.evaluation.wording import instant_column, join_words

NEVER_REPORTED: Final = "never_reported"
STANDS_HOURS: Final = 24
_MOST_READS: Final = 200_000  # that are looked at: the newest
# Reads of one job in one row. A dataset that has been written since has an origin.
_READS = f"""
    SELECT r.dataset_key, r.job_namespace, r.job_name, count(*), max(r.read_at)
    FROM (
        SELECT dataset_key, job_namespace, job_name, read_at FROM dataset_read
        WHERE outcome = '{BAD}' AND read_at >= {{since}} ORDER BY read_at DESC LIMIT {_MOST_READS}
    ) AS r
    JOIN dataset d ON d.dataset_key = r.dataset_key AND {is_listed()}
    JOIN dataset_policy p ON p.dataset_key = r.dataset_key AND p.tier <> '{OPTIONAL}'
        AND NOT p.is_source
    LEFT JOIN dataset_activity a ON a.dataset_key = r.dataset_key
    WHERE coalesce(a.writes, 0) = 0
    GROUP BY r.dataset_key, r.job_namespace, r.job_name
"""  # noqa: S608 - our own words


def load_unsourced(
    spark: SparkSession, engine: Engine, at: EvaluationRange, instants: DataFrame
) -> tuple[pa.Table, ...]:
    """Return `sli_schemas.STATES` of M5; no Spark job where nothing was read without a source."""
    since = to_micros(at.as_of - timedelta(hours=STANDS_HOURS))
    reads = catalog_frames.read_frame(engine, _READS.format(since=since), UNSOURCED_READS)
    if not reads.num_rows:
        return ()
    frame = spark.createDataFrame(reads, UNSOURCED_READS).coalesce(1)
    return (unsourced_states(frame, instants).toArrow(),)


def unsourced_states(reads: DataFrame, instants: DataFrame) -> DataFrame:
    """Return a bad state for each dataset that was read in the last 24 hours.

    Args:
        reads: `sli_schemas.UNSOURCED_READS`.
        instants: `sli_schemas.INSTANTS`.

    Returns:
        `sli_schemas.STATES`, of the datasets that have one: no dataset is good in M5.
    """
    read_at = F.col("last_read_at")
    stands = read_at > F.col("as_of") - F.expr(f"INTERVAL {STANDS_HOURS} HOURS")
    readers = F.count(F.lit(1)).cast("string")
    evidence = join_words(
        *("read by ", readers, F.when(F.count(F.lit(1)) == 1, " job").otherwise(" jobs")),
        *(" in 24 hours, last ", instant_column(F.max(read_at)), "; no write of it is known"),
    )
    null = F.lit(None)
    return (
        reads.join(F.broadcast(instants), (read_at <= F.col("as_of")) & stands)
        .groupBy("as_of", "dataset_key")
        .agg(evidence.alias("evidence"))
        .select(
            *("as_of", "dataset_key", F.lit(MISSING_PROVENANCE.id).alias("sli")),
            *(F.lit(BAD).alias("state"), F.lit(NEVER_REPORTED).alias("reason"), "evidence"),
            *(null.cast("double").alias(name) for name in ("age_seconds", "limit_seconds")),
            null.cast("string").alias("limit_origin"),
        )
    )
