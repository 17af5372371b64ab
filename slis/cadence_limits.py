"""Learned limits: how long after a write the next one is late.

The tail is conformal and pooled over a class of cadences, since no dataset has enough gaps for it;
what a class's pool cannot show either goes on as its largest tenth falls off. `docs/slis.md` tells
the whole of it to those who meet a limit.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from slis.cadence import profiles
from slis.cadence_training import MIN_GAPS
from slis.working_week import (
    WEEK_HOURS,
    Hours,
    instant_micros,
    wall_at,
    working_seconds,
)

ALPHA_PER_WEEK = 0.001
_OWN_MARGIN = 0.1
_TAIL = 0.1
_TOP_SCORES = 1_000

# The tail of a class: its scores' upper tenth from `threshold` on, and the mean excess over it.
POOLS = """
    cadence_class string, scores bigint, threshold double, excess double, top array<double>
"""
_LIMITS = """
    dataset_key bigint, limit_seconds double, cadence_class string, cadence_seconds double,
    gaps int, explanation string
"""


def learned_limits(
    writes: DataFrame, our_gaps: DataFrame, *, as_of: datetime, time_zone: str = "UTC"
) -> DataFrame:
    """The limit for the gap that each dataset's newest write began.

    Args:
        writes: `sli_schemas.WRITES`.
        our_gaps: `sli_schemas.GAPS`: what fell into them teaches nothing.
        as_of: writes after it are not known; the gap that is open at it is in no training.
        time_zone: of the schedules.

    Returns:
        `sli_schemas.LIMITS`, one row per dataset with a write; below 8 gaps without a limit.
    """
    learned = profiles(writes, our_gaps, as_of=as_of, time_zone=time_zone)
    return limits(learned, pools(learned), time_zone=time_zone)


def pools(learned: DataFrame) -> DataFrame:
    """`POOLS` of the classes that have scores."""
    scores = learned.select("cadence_class", F.explode("scores").alias("score"))
    thresholds = scores.groupBy("cadence_class").agg(
        F.count("score").alias("scores"), F.percentile("score", 1 - _TAIL).alias("threshold")
    )
    beyond = F.when(F.col("score") > F.col("threshold"), F.col("score"))
    top = F.slice(F.sort_array(F.collect_list(beyond), asc=False), 1, _TOP_SCORES)
    return (
        scores.join(F.broadcast(thresholds), "cadence_class")
        .groupBy("cadence_class", "scores", "threshold")
        .agg(
            F.coalesce(F.avg(beyond - F.col("threshold")), F.lit(0.0)).alias("excess"),
            top.alias("top"),
        )
    )


def limits(learned: DataFrame, tails: DataFrame, *, time_zone: str) -> DataFrame:
    """`sli_schemas.LIMITS` from `PROFILES` and `POOLS`."""
    scored = learned.drop("scores").join(F.broadcast(tails), "cadence_class", "left")
    by_tail = F.col("expected") + F.greatest(tail_score(), F.lit(0.0)) * F.col("spread")
    by_own = F.col("largest") + _OWN_MARGIN * F.col("expected")
    ready = scored.select("*", F.greatest(by_tail, by_own).alias("limit")).drop("top")

    # From working time back to the wall's is a look-up in the 168 hours of the week.
    def limit(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            yield pd.DataFrame([_limit(row, time_zone) for row in batch.itertuples()])

    return ready.mapInPandas(limit, _LIMITS)


def tail_score() -> Column:
    """The score that one cycle exceeds with probability alpha a week / cycles a week.

    The conformal quantile: of n scores, the one of rank (n + 1)(1 - alpha), so a high one. Beyond
    the largest, the excess over the upper tenth's threshold is taken to fall off exponentially.
    """
    rarity = (F.col("scores") + 1) * ALPHA_PER_WEEK / F.col("cycles_per_week")
    rank = F.greatest(F.floor(rarity).cast("int"), F.lit(1))
    shown = F.try_element_at("top", rank)
    largest = F.coalesce(F.try_element_at("top", F.lit(1)), F.col("threshold"))
    beyond = largest + F.col("excess") * F.greatest(-F.log(rarity), F.lit(0.0))
    return F.when(rarity >= 1, F.coalesce(shown, F.col("threshold"))).otherwise(beyond)


def _limit(row, time_zone: str) -> dict[str, object]:  # type: ignore[no-untyped-def]  # noqa: ANN001 - a pandas tuple
    told = {
        "dataset_key": row.dataset_key,
        "cadence_class": row.cadence_class,
        "gaps": row.gaps,
        "cadence_seconds": row.expected,
    }
    if row.gaps < MIN_GAPS:
        return {**told, "limit_seconds": None, "explanation": f"learning: {row.gaps} of 8 gaps"}
    hours = np.array([hour == "1" for hour in row.hours])
    last = working_seconds(np.array([row.last_wall]), hours)[0]
    due = instant_micros(wall_at(last + row.limit, hours), time_zone)
    return {
        **told,
        "limit_seconds": (due - row.last_micros) / 1e6,
        "explanation": _explanation(row, hours),
    }


def _explanation(row, hours: Hours) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001 - a pandas tuple
    paused = WEEK_HOURS - int(hours.sum())
    figures = {"usual": row.expected, "spread": row.spread, "largest": row.largest}
    told = ", ".join(f"{name} {_hours(seconds)}" for name, seconds in figures.items())
    week = f", {paused} hours of the week left out" if paused else ""
    return (
        f"{row.cadence_class}: {row.gaps} gaps, {told}{week}; late beyond {_hours(row.limit)} "
        f"(tail of {int(row.scores)} gaps of its class, own largest + 10 %)"
    )


def _hours(seconds: float) -> str:
    return f"{timedelta(seconds=round(seconds))}"
