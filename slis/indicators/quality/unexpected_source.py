"""New sources of regulated and critical datasets, which nobody declared and no run had before."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from slis.evaluation.wording import instant_column, join_words

UNEXPECTED_SOURCE = "unexpected_source"
STANDS_DAYS = 7
# Of a dataset that is new itself, nothing counts as new.
LEAST_WRITES = 8
_MOST_NAMED = 5


def unexpected_sources(fresh: DataFrame, instants: DataFrame) -> DataFrame:
    """Return the datasets with an input that is new.

    It stands for 7 days from its first event: the on-call engineer declares it, or stops it.

    Args:
        fresh: `quality.schemas.NEW_SOURCES`.
        instants: `sli_schemas.INSTANTS`.

    Returns:
        `quality.schemas.DEFECTS`, at most one row per dataset and instant.
    """
    seen_at = F.col("first_seen_at")
    stands = seen_at > F.col("as_of") - F.expr(f"INTERVAL {STANDS_DAYS} DAYS")
    one = join_words(
        *(F.col("namespace"), " ", F.col("name"), " by job ", F.col("job_name")),
        *(", first seen ", instant_column(seen_at)),
    )
    listed = F.array_sort(F.collect_list(one))
    more = F.size("sources") - _MOST_NAMED
    others = F.when(more > 0, join_words("; and ", more.cast("string"), " more")).otherwise(
        F.lit("")
    )
    named = F.array_join(F.slice("sources", 1, _MOST_NAMED), "; ")
    return (
        fresh.where(F.col("writes_before") >= LEAST_WRITES)
        .join(F.broadcast(instants), (seen_at <= F.col("as_of")) & stands)
        .groupBy("as_of", "dataset_key")
        .agg(listed.alias("sources"))
        .select(
            *("as_of", "dataset_key", F.lit(UNEXPECTED_SOURCE).alias("reason")),
            F.concat(join_words("made of ", named, ", which nobody declared"), others).alias(
                "evidence"
            ),
        )
    )
