"""Frames of one SLI alone, and of learned limits; an evaluation judges all SLIs together."""

from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from slis.cadence.cadence import WorkingTimes, profiles
from slis.cadence.cadence_limits import limits, pools, with_tails
from slis.cadence.working_time import WorkingTime
from slis.indicators.coverage import coverage_judgement
from slis.indicators.freshness import freshness_judgement, with_inputs, with_pauses


def coverage(known: DataFrame) -> DataFrame:
    """Return the datasets in M1's total, each judged at each instant."""
    judged = known.select("*", coverage_judgement().alias("judgement"))
    return judged.where(F.col("judgement").isNotNull())


def freshness(known: DataFrame, edges: DataFrame, pauses: DataFrame | None = None) -> DataFrame:
    """Return every dataset with its judgement at each instant."""
    paused = with_pauses(with_inputs(known, edges), pauses)
    judgement = freshness_judgement(has_pauses=pauses is not None)
    return paused.select("*", judgement.alias("judgement")).drop("pauses")


def learned_limits(
    writes: DataFrame,
    our_gaps: DataFrame,
    failures: DataFrame | None = None,
    *,
    as_of: datetime,
    times: WorkingTimes | None = None,
) -> DataFrame:
    """Return the limit for the gap that the newest write of each dataset began.

    Its pools are of the same datasets; those of the product are of all datasets.
    """
    times = times or {None: WorkingTime()}
    learned = profiles(writes, our_gaps, failures, instants=[as_of], times=times)
    return limits(with_tails(learned, pools(learned)), times)
