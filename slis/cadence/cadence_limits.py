"""Learned limits: how long after a write the next one is late.

The tail is conformal and pooled over a class of cadences, since no dataset has enough gaps for it;
what a class's pool cannot show either goes on as its largest tenth falls off. `docs/slis.md` says
the whole of it to those who meet a limit.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineage.process.clock import SECOND_MICROS
from slis.cadence.cadence import WorkingTimes, error_summary, hours_of
from slis.cadence.profile import (
    BURSTY,
    EVENT_DRIVEN,
    FAILED_CADENCE,
    PERIODIC,
    REGULAR,
    Cadence,
    gap_origin,
)
from slis.cadence.schedule_words import explain_limit, learning_text
from slis.cadence.training import MIN_GAPS
from slis.cadence.wide_limits import WIDE
from slis.cadence.working_time import WorkingTime
from slis.cadence.working_week import wall_seconds

# False alarms a dataset and week that are aimed at, to keep to one in 1,000 weeks: a limit that
# is learned gives more than it aims at. Of delays, half of them cost a hundredth of the time.
_ALPHA_PER_WEEK, _ALPHA_PERIODIC = 0.0008, 0.0005
# Of a cadence, beyond the own largest: what is let pass at least, and at most: of a schedule once
# many gaps are known, of other gaps that are alike until then.
_OWN_MARGIN, _MOST_MARGIN, _MOST_MARGIN_ALIKE = 0.13, 0.22, 1.0
_MANY_GAPS = 500
# Of a schedule slower than daily, until much is known: half a cycle after its slot, not a whole
# one. A weekly write that is a week late comes with the next one.
_SLOW_BOUND, _DAY_SECONDS = 0.5, 86_400.0
# Of a gap that recurs: how much longer one may be; of pauses between bursts not at all, since of
# hundreds of them the fifth longest is near the right limit.
_RECURRING_MARGIN = 1.08
# A pool of so many knows the tail of irregular gaps better than a dataset's own largest, which is
# beyond the right limit in one of fifty.
_MANY_POOLED = 1_000
_IRREGULAR = (BURSTY, EVENT_DRIVEN)
_TAIL = 0.05
_TOP_SCORES = 1_000
# A tail that nothing bounds must not overflow a timestamp; the history is of 180 days.
_LONGEST_SECONDS = 366 * 86_400.0
_BY = ("as_of", "cadence_class")

# The tail of a class: its scores' upper twentieth from `threshold` on, and the mean excess over it.
POOLS = """
    as_of bigint, cadence_class string, scores bigint, threshold double, excess double,
    top array<double>
"""
_LIMITS = """
    dataset_key bigint, limit_seconds double, cadence_class string, cadence_seconds double,
    gaps int, explanation string
"""


def pools(learned: DataFrame) -> DataFrame:
    """Return `POOLS` of the classes that have scores, as of each instant."""
    scores = learned.select(*_BY, F.explode("scores").alias("score"))
    thresholds = scores.groupBy(*_BY).agg(
        F.count("score").alias("scores"), F.percentile("score", 1 - _TAIL).alias("threshold")
    )
    beyond = F.when(F.col("score") > F.col("threshold"), F.col("score"))
    top = F.slice(F.sort_array(F.collect_list(beyond), asc=False), 1, _TOP_SCORES)
    return (
        scores.join(F.broadcast(thresholds), list(_BY))
        .groupBy(*_BY, "scores", "threshold")
        .agg(
            F.coalesce(F.avg(beyond - F.col("threshold")), F.lit(0.0)).alias("excess"),
            top.alias("top"),
        )
    )


def with_tails(learned: DataFrame, tails: DataFrame) -> DataFrame:
    """Return `PROFILES` with `pooled` (how many) and `limit` (seconds after `origin`), not scores.

    Args:
        learned: `PROFILES`.
        tails: `POOLS`; those without `as_of` hold for all.
    """
    by_class: list[str] = [name for name in _BY if name in tails.columns]
    own = learned.drop("scores")
    pooled = tails.withColumnRenamed("scores", "pooled")
    scored = own.join(F.broadcast(pooled), by_class, "left")
    score = F.coalesce(F.greatest(tail_score(), F.lit(0.0)), F.lit(0.0))
    by_tail = F.col("level") + score * F.col("scale")
    cadence = F.coalesce("cycle_seconds", "usual_gap")
    own_bound = F.col("largest") + _OWN_MARGIN * cadence
    few = F.coalesce(F.col("pooled"), F.lit(0)) < _MANY_POOLED
    least = F.when(~F.col("cadence_class").isin(*_IRREGULAR) | few, own_bound)
    limit = F.greatest(F.least(by_tail, _most(cadence)), least)
    by_itself = F.col("cadence_class").isin(*WIDE)
    limit = F.when(by_itself, F.col("level")).otherwise(limit)
    limit = F.least(limit, F.lit(_LONGEST_SECONDS)).alias("limit")
    return scored.select(*own.columns, "pooled", limit)


def _most(cadence: Column) -> Column:
    """Return what no tail goes beyond; null where there is none.

    Of few gaps one late write makes the scale, and the pool's tail, which is of datasets with many
    gaps, would make days of it. But a write that is a whole cycle late is one that never came.
    """
    is_known = F.col("gaps") >= _MANY_GAPS
    own = F.col("largest") + _MOST_MARGIN * cadence
    young = F.greatest(own, F.when(cadence > _DAY_SECONDS, _SLOW_BOUND).otherwise(1.0) * cadence)
    alike = F.col("largest") + _MOST_MARGIN_ALIKE * cadence
    return F.when(F.col("cadence_class") == PERIODIC, F.when(is_known, own).otherwise(young)).when(
        (F.col("cadence_class") == REGULAR) & ~is_known, alike
    )


def tail_score() -> Column:
    """Return the score that one cycle exceeds with probability alpha a week / cycles a week.

    The conformal quantile: of n scores, the one of rank (n + 1)(1 - alpha), so a high one. Beyond
    the largest, the excess over the threshold is taken to fall off exponentially. So it is for
    irregular gaps from the threshold on: their largest were cut off with the misses.
    """
    is_periodic = F.col("cadence_class") == PERIODIC
    alpha = F.when(is_periodic, _ALPHA_PERIODIC).otherwise(_ALPHA_PER_WEEK)
    rarity = F.try_divide(F.try_divide(alpha, F.col("cycles_per_week")), F.col("share"))
    expected = (F.col("pooled") + 1) * rarity
    # Beyond the scores that are kept there is none to look up, however large the number is.
    rank = F.greatest(F.least(F.floor(expected), F.lit(_TOP_SCORES + 1)).cast("int"), F.lit(1))
    shown = F.try_element_at("top", rank)
    largest = F.coalesce(F.try_element_at("top", F.lit(1)), F.col("threshold"))
    beyond = largest + F.col("excess") * F.greatest(-F.log(expected), F.lit(0.0))
    conformal = F.when(expected >= 1, F.coalesce(shown, F.col("threshold"))).otherwise(beyond)
    fall = F.log(F.try_divide(F.lit(_TAIL), rarity))
    smooth = F.col("threshold") + F.col("excess") * F.greatest(fall, F.lit(0.0))
    return F.when(F.col("cadence_class").isin(*_IRREGULAR), smooth).otherwise(conformal)


def limits(learned: DataFrame, times: WorkingTimes) -> DataFrame:
    """Return the columns `_LIMITS` of each dataset, from the frame of `with_tails`."""

    # From working time back to the wall's is a look-up in the 168 hours of the week.
    def limit(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            rows = [_contained(row, times) for row in batch.itertuples()]
            yield pd.DataFrame(rows, columns=_COLUMNS, dtype=object)

    return learned.mapInPandas(limit, _LIMITS)


_COLUMNS = [part.split()[0] for part in _LIMITS.split(",")]


def _contained(row, times: WorkingTimes) -> dict[str, object]:  # type: ignore[no-untyped-def]  # noqa: ANN001 - a pandas tuple
    """Return the limit of one dataset, or a row with the problem that our own code met."""
    if isinstance(row.problem, str):
        return _failed(row.dataset_key, row.problem)
    try:
        return _limit(row, times)
    except Exception as error:  # noqa: BLE001 - a fault of one dataset must not stop the others
        return _failed(row.dataset_key, error_summary(error))


def _failed(dataset_key: int, problem: str) -> dict[str, object]:
    explanation = f"the limit could not be learned: {problem}"
    return {
        "dataset_key": dataset_key,
        "cadence_class": FAILED_CADENCE,
        "gaps": 0,
        "explanation": explanation,
    }


def _limit(row, times: WorkingTimes) -> dict[str, object]:  # type: ignore[no-untyped-def]  # noqa: ANN001 - a pandas tuple
    figures = {
        "dataset_key": row.dataset_key,
        "cadence_class": row.cadence_class,
        "gaps": row.gaps,
        "cadence_seconds": None if pd.isna(row.usual_gap) else row.usual_gap,
    }
    if row.gaps < MIN_GAPS and row.cadence_class not in WIDE:
        return {**figures, "limit_seconds": None, "explanation": learning_text(row.gaps)}
    _check_figures(row)
    time = times.get(row.plan if isinstance(row.plan, str) else None, times[None])
    last = np.array([row.last_micros])
    due, slot = int(deadlines(row, last, time)[0]), int(next_slots(row, last, time)[0])
    seconds = (due - row.newest_micros) / SECOND_MICROS
    pooled = 0 if pd.isna(row.pooled) else int(row.pooled)
    is_bound = row.cadence_class not in _IRREGULAR or pooled < _MANY_POOLED
    explanation = explain_limit(
        row,
        slot=slot,
        due=due,
        zone=time.time_zone,
        own_margin=_OWN_MARGIN if is_bound else None,
    )
    return {**figures, "limit_seconds": seconds, "explanation": explanation}


def _check_figures(row) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - a pandas tuple
    """Reject a profile that lacks a figure: NumPy would convert it to some timestamp."""
    schedule = ("cycle_seconds", "phase") if row.cadence_class == PERIODIC else ()
    figures = ("usual_gap", "spread", "largest", "limit", "last_micros", "newest_micros", *schedule)
    if lacking := [name for name in figures if pd.isna(getattr(row, name))]:
        raise ValueError(f"a profile without {', '.join(lacking)}")


def has_limit(learned: pd.DataFrame) -> "pd.Series[bool]":
    """Return which profiles know enough gaps for a limit."""
    return (learned.gaps >= MIN_GAPS) | learned.cadence_class.isin(WIDE)


def deadlines(row, at, time: WorkingTime):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - a pandas tuple
    """Return when the write after each of those `at` instants is late, in microseconds.

    Args:
        row: of what `with_tails` gives, learned before them.
        at: microseconds of writes.
        time: of the dataset.
    """
    hours = hours_of(row.hours)
    working = time.working(wall_seconds(at, time.time_zone), hours)
    slot = gap_origin(working, _schedule(row))
    # From the slot, where there is one: a late write puts nothing off.
    since = slot - row.cycle_seconds if row.cadence_class == PERIODIC else working
    late = np.maximum(slot + row.limit, since + _recurring(row))
    due = time.due(at, late, hours, usual_gap=row.usual_gap)
    if not time.windows:
        return due
    # A slot that is over when a window begins stays over; one in the window is for its end.
    return time.after_windows(next_slots(row, at, time), due)


def next_slots(row, at, time: WorkingTime):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201 - a pandas tuple
    """Return when the write after each instant is expected; without a schedule, the instant."""
    if row.cadence_class != PERIODIC:
        return at
    hours = hours_of(row.hours)
    working = time.working(wall_seconds(at, time.time_zone), hours)
    return time.due(at, gap_origin(working, _schedule(row)), hours, usual_gap=row.usual_gap)


def _schedule(row) -> Cadence:  # type: ignore[no-untyped-def]  # noqa: ANN001 - a pandas tuple
    is_periodic = row.cadence_class == PERIODIC
    cycle, phase = (row.cycle_seconds, row.phase) if is_periodic else (None, None)
    return Cadence(
        row.cadence_class, row.gaps, largest=row.largest, cycle_seconds=cycle, phase=phase
    )


def _recurring(row) -> float:  # type: ignore[no-untyped-def]  # noqa: ANN001 - a pandas tuple
    """Return what no limit is below, in working seconds."""
    if pd.isna(row.recurring):
        return 0.0
    margin = 1.0 if row.cadence_class == BURSTY else _RECURRING_MARGIN
    return float(margin * row.recurring)
