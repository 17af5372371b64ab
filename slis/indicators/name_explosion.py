"""F3, over-granular growth: names that are new each time, by the pattern that they have alike."""

from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from sqlalchemy import Engine, delete, select

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.names.keys import shorten
from lineage.names.patterns import EXPLOSION_PER_HOUR, PARTS
from lineage.process.clock import to_micros
from slis.evaluation import catalog_frames
from slis.evaluation.sli_schemas import INSTANTS
from slis.spark.planning import local_rows

NEW_NAMES = "namespace string, name string, first_seen_at timestamp"
# One row a pattern that several new names have, the fastest growing first.
GROWTH = """
    namespace string, name string, new_datasets bigint, example_namespace string,
    example_name string, is_explosion boolean
"""
MOST_PATTERNS = 20

# A name that was folded into another, or that somebody retired, is no dataset of its own.
# By the table, as it lies: through the index of what is listed, each of 100,000 rows is looked up.
_NEW = """
    SELECT namespace, name, first_seen_at FROM dataset
    WHERE first_seen_at > {since} AND canonical_key = dataset_key AND retired_at + 0 IS NULL
"""


def count_new_names(names: DataFrame, instants: DataFrame) -> DataFrame:
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
    """Return `lineage.names.patterns.pattern_of`, as an expression."""
    for part in PARTS:
        text = F.regexp_replace(text, part.expression, part.word)
    return text


def renew_explosions(spark: SparkSession, engine: Engine, as_of: datetime) -> None:
    """Replace what was found before; most of the time nothing is new, and Spark is not asked."""
    since = to_micros(as_of - timedelta(hours=1))
    names = catalog_frames.read_frame(engine, _NEW.format(since=since), NEW_NAMES)
    rows = []
    if names.num_rows > 1:
        instants = local_rows(spark, [(as_of,)], INSTANTS)
        frame = spark.createDataFrame(names, NEW_NAMES)
        rows = catalog_frames.frame_rows(count_new_names(frame, instants))
    if not rows and not _has_patterns(engine):
        return
    with exclusive_transaction(engine) as connection:
        connection.execute(delete(tables.name_pattern))
        if rows:
            connection.execute(tables.name_pattern.insert(), [_bounded(row) for row in rows])


def _bounded(row: dict[str, Any]) -> dict[str, Any]:
    # A pattern may be three times as long as its names: `{n}` stands for a digit.
    return row | {part: shorten(row[part]) for part in ("namespace", "name")}


def _has_patterns(engine: Engine) -> bool:
    with engine.connect() as connection:
        return connection.scalar(select(tables.name_pattern).limit(1)) is not None
