"""Coverage and freshness of all datasets in one pass over any instants, and the counts by tier."""

from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineage.states import BAD, COVERAGE, GOOD, LEARNING, UNKNOWN
from slis.evaluation.ingestion_gaps import excuse_states
from slis.evaluation.reasons import reason_changes
from slis.indicators.coverage import coverage_changes, coverage_judgement
from slis.indicators.freshness import freshness_judgement, with_inputs, with_pauses


def datasets_judged(
    known: DataFrame,
    edges: DataFrame | None,
    gaps: DataFrame | None,
    pauses: DataFrame | None = None,
) -> DataFrame:
    """Judge each dataset by each per-dataset SLI at each instant.

    One row of facts gives both judgements: two frames would compute the same facts twice.

    Args:
        known: `sli_schemas.KNOWN`.
        edges: `sli_schemas.EDGES`; into streams, for those that are idle. None: no dataset is one.
        gaps: `sli_schemas.GAPS`; None: there are none.
        pauses: `sli_schemas.PAUSES`; None: time counts around the clock for all.

    Returns:
        `sli_schemas.JUDGED`, `inputs_written_at` and `excused_until`.
    """
    fresh = freshness_judgement(has_pauses=pauses is not None)
    both = F.explode(F.array(coverage_judgement(), fresh)).alias("judgement")
    paused = with_pauses(with_inputs(known, edges), pauses)
    judged = paused.select("*", both).where("judgement IS NOT NULL").drop("pauses")
    return excuse_states(judged, gaps)


@cache
def next_change() -> Column:
    """Return the earliest such time of a row of `datasets_judged`, at or after its `as_of`.

    A time equal to `as_of` counts: a limit that ends now is passed a moment later. Null where
    only facts change the judgement.
    """
    as_of = F.col("as_of")
    newest = F.greatest("write.written_at", "read_at", "started_at")
    times = (
        *coverage_changes(),
        *reason_changes(),
        F.col("judgement.bad_since"),  # of M2 the deadline, also while it is good
        F.col("excused_until"),
        F.when(newest >= as_of, as_of),  # a clock ahead: it is of now until now has passed it
    )
    return F.least(*(F.when(time >= as_of, time) for time in times))


def count_states(judged: DataFrame) -> DataFrame:
    """Count the datasets of each state at each instant: TALLIES without `excepted`.

    Args:
        judged: `sli_schemas.JUDGED`.
    """
    state = F.col("judgement.state")
    return judged.groupBy("as_of", F.col("judgement.sli").alias("sli"), "tier", "tier_origin").agg(
        F.count_if(state == GOOD).alias("good"),
        F.count_if(state.isin(GOOD, BAD)).alias("total"),
        F.count_if(state == UNKNOWN).alias("unknown"),
        F.count_if(state == LEARNING).alias("learning"),
    )


def count_datasets(judged: DataFrame, known: DataFrame) -> DataFrame:
    """Count the datasets at each instant.

    Args:
        judged: `sli_schemas.JUDGED`.
        known: `sli_schemas.KNOWN` of the same instants, for the sources that coverage excepts.

    Returns:
        `sli_schemas.TALLIES`. What is learning or unknown is in no total. A tier of which nothing
        is good or bad has a row with a total of 0: no sample.
    """
    counted = count_states(judged).withColumn("excepted", F.lit(0).cast("bigint"))
    zeros = [
        F.lit(0).cast("bigint").alias(name) for name in ("good", "total", "unknown", "learning")
    ]
    excepted = (
        known.where("is_source")
        .groupBy("as_of", F.lit(COVERAGE.id).alias("sli"), "tier", "tier_origin")
        .agg(F.count("*").alias("excepted"))
        .select("as_of", "sli", "tier", "tier_origin", *zeros, "excepted")
    )
    columns = ("good", "total", "unknown", "learning", "excepted")
    return (
        counted.unionByName(excepted)
        .groupBy("as_of", "sli", "tier", "tier_origin")
        .agg(*(F.sum(name).alias(name) for name in columns))
    )
