"""M4 of checks: how many agree, which datasets have an edge that does not, and who reported it.

A listener's version is right or wrong as a whole, so each has a share of its own.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineage.states import ACCURACY, BAD, EVENT_LOG, GOOD, SQL_TEXT, UNKNOWN
from slis.evaluation.wording import join_words
from slis.indicators.accuracy.checks import EDGE_MISSING, EDGE_WRONG
from slis.indicators.accuracy.schemas import COLUMN_LINEAGE, LINEAGE_FACET, OWN_WORDS

# What each oracle has that the events lack, as people read it; who is believed first, first.
_WORDS = {
    EVENT_LOG: ("its event log has", ", its events do not name it"),
    SQL_TEXT: ("its SQL reads", ", its events do not name it"),
    LINEAGE_FACET: ("its lineage facet names", ", its inputs do not"),
    COLUMN_LINEAGE: ("its column lineage names", ", its inputs do not"),
}
ORACLES = tuple(_WORDS)

_Z = 1.959963984540054  # 97.5 % quantile of the normal distribution: two-sided 95 %


def accuracy_tally(checks: DataFrame, instants: DataFrame) -> DataFrame:
    """Count the edges that agreed, of all that an independent oracle was asked about.

    Args:
        checks: `accuracy.schemas.CHECKS`.
        instants: `sli_schemas.INSTANTS`, the one.

    Returns:
        `sli_schemas.TALLIES`; nothing checked, no row.
    """
    zero = F.lit(0).cast("bigint")
    return (
        independent(checks)
        .crossJoin(F.broadcast(instants))
        .groupBy("as_of", "tier", "tier_origin")
        .agg(F.count_if(F.col("outcome") == GOOD).alias("good"), F.count("*").alias("total"))
        .select(
            *("as_of", F.lit(ACCURACY.id).alias("sli"), "tier", "tier_origin", "good", "total"),
            *(zero.alias(name) for name in ("unknown", "learning", "excepted")),
        )
    )


def accuracy_states(latest: DataFrame, instants: DataFrame) -> DataFrame:
    """Return the state of each dataset with checked edges: bad where one was wrong, else good.

    A wrong edge is named before a missing one, and of those, edges of the event log first.

    Args:
        latest: `accuracy.schemas.LATEST_CHECKS`.
        instants: `sli_schemas.INSTANTS`.

    Returns:
        `sli_schemas.STATES`.
    """
    full_name = join_words(F.col("namespace"), " ", F.col("name"))
    finding = F.struct(_rank(), full_name.alias("name"), "root_run_id", "oracle")
    found = latest.groupBy("downstream_key").agg(
        *(_first(finding, outcome).alias(outcome) for outcome in (EDGE_MISSING, EDGE_WRONG)),
    )
    is_missing, is_wrong = (F.col(name).isNotNull() for name in (EDGE_MISSING, EDGE_WRONG))
    null = F.lit(None)
    return found.crossJoin(F.broadcast(instants)).select(
        *("as_of", F.col("downstream_key").alias("dataset_key"), F.lit(ACCURACY.id).alias("sli")),
        F.when(is_missing | is_wrong, BAD).otherwise(GOOD).alias("state"),
        F.when(is_wrong, EDGE_WRONG).when(is_missing, EDGE_MISSING).alias("reason"),
        _evidence(is_missing, is_wrong).alias("evidence"),
        *(null.cast("double").alias(name) for name in ("age_seconds", "limit_seconds")),
        null.cast("string").alias("limit_origin"),
    )


def _first(finding: Column, outcome: str) -> Column:
    return F.min(F.when(F.col("outcome") == outcome, finding))


def _rank() -> Column:
    """Return the oracles; the first is named before the others."""
    names = F.array(*(F.lit(oracle) for oracle in ORACLES))
    return F.array_position(names, F.col("oracle")).alias("rank")


def _evidence(is_missing: Column, is_wrong: Column) -> Column:
    missing, wrong = F.col(EDGE_MISSING), F.col(EDGE_WRONG)
    wrong_words = join_words(
        *("run ", wrong["root_run_id"], ": its events name ", wrong["name"]),
        ", its event log does not",
    )
    evidence = F.when(is_wrong, wrong_words)
    for oracle, (before, after) in _WORDS.items():
        text = join_words("run ", missing["root_run_id"], f": {before} ", missing["name"], after)
        evidence = evidence.when(is_missing & (missing["oracle"] == oracle), text)
    return evidence


def strata(checks: DataFrame, *, objective: float) -> DataFrame:
    """Return the share of checked edges that were right, and its Wilson interval.

    The interval (Wilson 1927) holds for few checks and for shares near 1, where the usual one
    does not. What a run's own facets name is left
    out. Bad when even its upper bound is below the objective, good when its lower one is not.

    Args:
        checks: `accuracy.schemas.CHECKS`.
        objective: ratio 0-1.

    Returns:
        `accuracy.schemas.STRATA`; who reported nothing that was checked has no row.
    """
    counted = (
        independent(checks)
        .groupBy("producer", "adapter_version")
        .agg(F.count_if(F.col("outcome") == GOOD).alias("good"), F.count("*").alias("total"))
    )
    ratio = F.col("good") / F.col("total")
    lower, upper = wilson(F.col("good"), F.col("total"))
    bounded = counted.select("*", ratio.alias("ratio"), lower.alias("lower"), upper.alias("upper"))
    state = (
        F.when(F.col("upper") < objective, BAD)
        .when(F.col("lower") >= objective, GOOD)
        .otherwise(UNKNOWN)
    )
    return bounded.select("*", state.alias("state"))


def independent(checks: DataFrame) -> DataFrame:
    """Return `CHECKS` by an oracle other than the run's own facets.

    Who can say bad alone makes no sample: the share of what is right would be none.
    """
    return checks.where(~F.col("oracle").isin(*OWN_WORDS))


def wilson(good: Column, total: Column) -> tuple[Column, Column]:
    """Return the lower and the upper bound of a share, 95 %."""
    share, squared = good / total, _Z * _Z
    centre = share + squared / (2 * total)
    spread = _Z * F.sqrt(share * (1 - share) / total + squared / (4 * total * total))
    scale = 1 + squared / total
    return F.greatest(F.lit(0.0), (centre - spread) / scale), F.least(
        F.lit(1.0), (centre + spread) / scale
    )
