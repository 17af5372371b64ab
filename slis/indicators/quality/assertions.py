"""Data quality assertions that failed: bad facts of a dataset."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from slis.evaluation.wording import instant_column, join_words

ASSERTION_FAILED = "assertion_failed"
STANDS_DAYS = 7
_WARNING = "warn"
_MOST_NAMED = 5


def failed_assertions(tested: DataFrame, instants: DataFrame) -> DataFrame:
    """Return datasets with a failed test that has not passed since.

    A failure stands until the same assertion passes, or for 7 days without another result: a test
    that nobody runs any more says nothing of now. Warnings are shown, and make nothing bad.

    Args:
        tested: `quality.schemas.ASSERTIONS`.
        instants: `sli_schemas.INSTANTS`.

    Returns:
        `quality.schemas.DEFECTS`, at most one row per dataset and instant; the evidence names
        the newest five assertions.
    """
    failed_at, passed_at = F.col("last_failed_at"), F.col("last_passed_at")
    is_failing = passed_at.isNull() | (failed_at >= passed_at)
    stands = failed_at > F.col("as_of") - F.expr(f"INTERVAL {STANDS_DAYS} DAYS")
    is_grave = F.coalesce(F.col("severity"), F.lit("")) != _WARNING
    failed = F.struct(failed_at.alias("at"), _failure_text().alias("words"))
    return (
        tested.where(is_failing & is_grave)
        .join(F.broadcast(instants), (failed_at <= F.col("as_of")) & stands)
        .groupBy("as_of", "dataset_key")
        .agg(F.sort_array(F.collect_list(failed), asc=False).alias("failed"))
        .select("as_of", "dataset_key", F.lit(ASSERTION_FAILED).alias("reason"), _evidence())
    )


def _failure_text() -> Column:
    """Return `unique of id (ids are unique) failed 2026-…: expected 0, got 3`."""
    column = F.when(F.col("column_name") != "", join_words(" of ", F.col("column_name")))
    name = F.when(
        (F.col("name") != "") & (F.col("name") != F.col("assertion")),
        join_words(" (", F.col("name"), ")"),
    )
    expected = F.when(F.col("expected") != "", join_words(": expected ", F.col("expected")))
    actual = F.when(F.col("actual") != "", join_words(", got ", F.col("actual")))
    return F.concat(
        F.coalesce(F.nullif("assertion", F.lit("")), F.lit("a test")),
        *(F.coalesce(part, F.lit("")) for part in (column, name)),
        join_words(" failed ", instant_column(F.col("last_failed_at"))),
        *(F.coalesce(part, F.lit("")) for part in (expected, actual)),
    )


def _evidence() -> Column:
    shown = F.array_join(F.slice("failed.words", 1, _MOST_NAMED), "; ")
    more = F.size("failed") - _MOST_NAMED
    others = F.when(more > 0, join_words("; and ", more.cast("string"), " more"))
    return F.concat(shown, F.coalesce(others, F.lit(""))).alias("evidence")
