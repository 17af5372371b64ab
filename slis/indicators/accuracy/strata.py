"""M4 by who reported: a listener's version is right or wrong as a whole."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineage.states import BAD, GOOD, UNKNOWN
from slis.indicators.accuracy.schemas import OWN_WORDS

_Z = 1.959963984540054  # 97.5 % quantile of the normal distribution: two-sided 95 %


def strata(checks: DataFrame, *, objective: float) -> DataFrame:
    """Share of the checked edges that were right, with the bounds of its Wilson interval.

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
    """Lower and upper bound of the share, 95 %."""
    share, squared = good / total, _Z * _Z
    centre = share + squared / (2 * total)
    spread = _Z * F.sqrt(share * (1 - share) / total + squared / (4 * total * total))
    scale = 1 + squared / total
    return F.greatest(F.lit(0.0), (centre - spread) / scale), F.least(
        F.lit(1.0), (centre + spread) / scale
    )
