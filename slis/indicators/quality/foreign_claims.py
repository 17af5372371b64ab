"""Names, tiers and owners of a dataset that events claimed, and drops, that had no effect."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from slis.evaluation.wording import instant_column, join_words

FOREIGN_CLAIM = "foreign_claim"
STANDS_DAYS = 7
_MOST_NAMED = 5
_MOST_CHARACTERS = 200  # of a name, which somebody else chose


def foreign_claims(rejected: DataFrame, instants: DataFrame) -> DataFrame:
    """Return the datasets with a rejected claim; each stands for 7 days after it was last made.

    Args:
        rejected: `quality.schemas.REJECTED_CLAIMS`.
        instants: `sli_schemas.INSTANTS`.

    Returns:
        `quality.schemas.DEFECTS`, at most one row per dataset and instant.
    """
    seen_at = F.col("landed_at")
    stands = seen_at > F.col("as_of") - F.expr(f"INTERVAL {STANDS_DAYS} DAYS")
    other = join_words(_cut("namespace"), " ", _cut("name"))
    claim = (
        F.when(F.col("rule") == "symlink", join_words("is another name of ", other))
        .when(F.col("rule") == "rename", join_words("was renamed to ", other))
        .when(F.col("rule").isin("tier", "owner"), _attribute())
        .otherwise(F.lit("was dropped"))
    )
    by = F.when(F.col("job_namespace") == "", F.lit("an event without a run"))
    job = F.when(F.col("job_name").isNotNull(), join_words("job ", _cut("job_name"), " of "))
    of = F.coalesce(job, F.lit(""))
    by = by.otherwise(join_words(of, "job namespace ", _cut("job_namespace")))
    one = join_words(by, " reports that the dataset ", claim, ", last ", instant_column(seen_at))
    listed = F.array_sort(F.collect_list(one))
    more = F.size("claims") - _MOST_NAMED
    others = F.when(more > 0, join_words("; and ", more.cast("string"), " more")).otherwise(
        F.lit("")
    )
    named = F.array_join(F.slice("claims", 1, _MOST_NAMED), "; ")
    return (
        rejected.join(F.broadcast(instants), (seen_at <= F.col("as_of")) & stands)
        .groupBy("as_of", "dataset_key")
        .agg(listed.alias("claims"))
        .select(
            *("as_of", "dataset_key", F.lit(FOREIGN_CLAIM).alias("reason")),
            F.concat(named, others, F.lit("; the claim has no effect")).alias("evidence"),
        )
    )


def _attribute() -> Column:
    return join_words("has the ", F.col("rule"), " ", _cut("name"), " and not ", _cut("namespace"))


def _cut(column: str) -> Column:
    return F.substring(column, 1, _MOST_CHARACTERS)
