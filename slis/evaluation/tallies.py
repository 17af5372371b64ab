"""Counts of good datasets, and of all, per SLI and tier."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineage.states import BAD, COVERAGE, GOOD, LEARNING, UNKNOWN


def tallies(judged: DataFrame, known: DataFrame) -> DataFrame:
    """Datasets at each instant.

    Args:
        judged: `sli_schemas.JUDGED`.
        known: `sli_schemas.KNOWN` of the same instants, for the sources that coverage excepts.

    Returns:
        `sli_schemas.TALLIES`. What is learning or unknown is in no total. A tier of which nothing
        is good or bad has a row with a total of 0: no sample.
    """
    state = F.col("judgement.state")
    counted = judged.groupBy(
        "as_of", F.col("judgement.sli").alias("sli"), "tier", "tier_origin"
    ).agg(
        F.count_if(state == GOOD).alias("good"),
        F.count_if(state.isin(GOOD, BAD)).alias("total"),
        F.count_if(state == UNKNOWN).alias("unknown"),
        F.count_if(state == LEARNING).alias("learning"),
        F.lit(0).cast("bigint").alias("excepted"),
    )
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
