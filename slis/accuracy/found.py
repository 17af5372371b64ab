"""M4 of checks: how many agree, and which datasets have an edge that does not."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineage.states import ACCURACY, BAD, GOOD
from slis.accuracy.checks import EDGE_MISSING, EDGE_WRONG
from slis.wording import words


def accuracy_tally(checks: DataFrame, instants: DataFrame) -> DataFrame:
    """Checked edges that agreed, of all.

    Args:
        checks: `accuracy.schemas.CHECKS`.
        instants: `sli_schemas.INSTANTS`, the one.

    Returns:
        `sli_schemas.TALLIES`; nothing checked, no row.
    """
    zero = F.lit(0).cast("bigint")
    return (
        checks.crossJoin(F.broadcast(instants))
        .groupBy("as_of", "tier", "tier_origin")
        .agg(F.count_if(F.col("outcome") == GOOD).alias("good"), F.count("*").alias("total"))
        .select(
            *("as_of", F.lit(ACCURACY.id).alias("sli"), "tier", "tier_origin", "good", "total"),
            *(zero.alias(name) for name in ("unknown", "learning", "excepted")),
        )
    )


def accuracy_states(latest: DataFrame, instants: DataFrame) -> DataFrame:
    """Each dataset of which edges were checked: bad where one did not agree, else good.

    Args:
        latest: `accuracy.schemas.LATEST`.
        instants: `sli_schemas.INSTANTS`.

    Returns:
        `sli_schemas.STATES`.
    """
    full_name = words(F.col("namespace"), " ", F.col("name"))
    found = latest.groupBy("downstream_key").agg(
        F.max("root_run_id").alias("root_run_id"),
        *(_first(full_name, outcome).alias(outcome) for outcome in (EDGE_MISSING, EDGE_WRONG)),
    )
    is_missing, is_wrong = (F.col(name).isNotNull() for name in (EDGE_MISSING, EDGE_WRONG))
    null = F.lit(None)
    return found.crossJoin(F.broadcast(instants)).select(
        *("as_of", F.col("downstream_key").alias("dataset_key"), F.lit(ACCURACY.id).alias("sli")),
        F.when(is_missing | is_wrong, BAD).otherwise(GOOD).alias("state"),
        F.when(is_wrong, EDGE_WRONG).when(is_missing, EDGE_MISSING).alias("reason"),
        _told(is_missing, is_wrong).alias("evidence"),
        *(null.cast("double").alias(name) for name in ("age_seconds", "limit_seconds")),
        null.cast("string").alias("limit_origin"),
    )


def _first(name: Column, outcome: str) -> Column:
    return F.min(F.when(F.col("outcome") == outcome, name))


def _told(is_missing: Column, is_wrong: Column) -> Column:
    run = words("run ", F.col("root_run_id"), ": ")
    wrong = words(run, "its events name ", F.col(EDGE_WRONG), ", its event log does not")
    missing = words(run, "its event log has ", F.col(EDGE_MISSING), ", its events do not name it")
    return F.when(is_wrong, wrong).when(is_missing, missing)
