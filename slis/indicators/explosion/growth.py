"""F3, over-granular growth: names that are new each time, by the pattern that they have alike."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineage.names.patterns import EXPLOSION_PER_HOUR, PARTS

NEW_NAMES = "namespace string, name string, first_seen_at timestamp"
# One row a pattern that several new names have, the fastest growing first.
GROWTH = """
    namespace string, name string, new_datasets bigint, example_namespace string,
    example_name string, is_explosion boolean
"""
MOST_PATTERNS = 20


def growth(names: DataFrame, instants: DataFrame) -> DataFrame:
    """Count new datasets of the hour before, by the pattern of their names.

    Args:
        names: NEW_NAMES, one row a dataset.
        instants: `sli_schemas.INSTANTS`, the one instant.

    Returns:
        GROWTH, at most 20 rows: patterns that one new name alone has say nothing, and have none.
    """
    as_of, seen = F.col("as_of"), F.col("first_seen_at")
    new = names.crossJoin(F.broadcast(instants)).where(
        (seen > as_of - F.expr("INTERVAL 1 HOUR")) & (seen <= as_of)
    )
    example = F.min(F.struct("namespace", "name"))
    patterns = new.groupBy(
        pattern(F.col("namespace")).alias("pattern_namespace"),
        pattern(F.col("name")).alias("pattern_name"),
    ).agg(F.count("*").alias("new_datasets"), example.alias("example"))
    order = (F.desc("new_datasets"), "pattern_namespace", "pattern_name")
    return (
        patterns.where(F.col("new_datasets") > 1)
        .orderBy(*order)
        .limit(MOST_PATTERNS)
        .select(
            F.col("pattern_namespace").alias("namespace"),
            F.col("pattern_name").alias("name"),
            "new_datasets",
            F.col("example.namespace").alias("example_namespace"),
            F.col("example.name").alias("example_name"),
            (F.col("new_datasets") >= EXPLOSION_PER_HOUR).alias("is_explosion"),
        )
    )


def pattern(text: Column) -> Column:
    """`lineage.names.patterns.pattern_of`, as an expression."""
    for part in PARTS:
        text = F.regexp_replace(text, part.expression, part.word)
    return text
