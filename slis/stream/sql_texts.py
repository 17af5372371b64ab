"""The SQL that runs ran, each distinct text once."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from sqlalchemy import Connection

from lineage.catalog import tables
from lineage.catalog.upsert import greatest, least, upsert
from slis.stream.arrow import records

LONGEST_TEXT = 65_536  # characters: a longer one is a program, and half of it would be another
_TOO_LONG = f"longer than {LONGEST_TEXT:,} characters"
_FACET = "query string, dialect string"
Row = tuple[Any, ...]


def sql_texts(parsed: DataFrame) -> DataFrame:
    """`schemas.SQL_TEXTS`: the distinct texts of a batch, and the runs that ran them.

    Of history loads only the texts of runs without inputs: these have their inputs from it.
    """
    ran = parsed.where(
        (F.col("kind") == "run")
        & F.col("job_sql").isNotNull()
        & F.col("run_key").isNotNull()
        & F.col("event_time").isNotNull()
        & (~F.col("is_history") | ((F.col("inputs") == 0) & (F.col("outputs") > 0)))
    )
    facet = F.from_json("job_sql", _FACET)
    of_engine = F.when(F.col("integration") == "SPARK", "spark").otherwise("")
    dialect = F.coalesce(F.nullif(F.lower(F.trim("dialect")), F.lit("")), of_engine)
    return (
        ran.groupBy("job_sql", "integration")
        .agg(F.collect_set("run_key").alias("run_keys"))
        .select("integration", "run_keys", facet.alias("facet"))
        .select("integration", "run_keys", F.trim("facet.query").alias("query"), "facet.dialect")
        .where(F.length("query") > 0)
        .select(dialect.alias("dialect"), "query", "run_keys")
        .select(
            F.xxhash64("dialect", "query").alias("sql_key"),
            "dialect",
            F.when(F.length("query") <= LONGEST_TEXT, F.col("query")).alias("text"),
            "run_keys",
        )
    )


def staged(texts: pa.Table) -> dict[str, tuple[Sequence[str], list[Row]]]:
    """Rows of `staging`'s tables from `schemas.SQL_TEXTS`."""
    told = list(records(texts))
    distinct = {one["sql_key"]: (one["sql_key"], one["dialect"], one["text"]) for one in told}
    ran = [(run_key, one["sql_key"]) for one in told for run_key in one["run_keys"]]
    return {
        "s_sql_text": (("sql_key", "dialect", "text"), list(distinct.values())),
        "s_sql_run": (("run_key", "sql_key"), ran),
    }


def merge_sql(connection: Connection, landed_at: int) -> None:
    """`sql_text` and `sql_run`; a text that was parsed is not asked for again."""
    given = {"landed_at": landed_at}
    upsert(
        connection,
        tables.sql_text,
        f"""
        SELECT sql_key, max(dialect) AS dialect, max(text) AS text, CAST(NULL AS TEXT) AS names,
            CASE WHEN max(text) IS NULL THEN '{_TOO_LONG}' END AS problem,
            :landed_at AS first_seen_at, :landed_at AS last_seen_at
        FROM s_sql_text GROUP BY sql_key
        """,  # noqa: S608 - words of ours
        {"first_seen_at": least, "last_seen_at": greatest},
        keeps="dialect text names problem",
        given=given,
    )
    upsert(
        connection,
        tables.sql_run,
        "SELECT DISTINCT run_key, sql_key, :landed_at AS seen_at FROM s_sql_run",
        {"seen_at": greatest},
        given=given,
    )
