"""Benchmark of learned limits on simulated months: detection time and false alarms."""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np
from pyspark.sql import SparkSession

from lab.bench.evaluate import peak_bytes
from lab.simulation.gap_baselines import DailyScores, of_median
from lab.simulation.gaps import CHANGE, FIRST_WATCHED, SILENCE, USUAL, Simulated
from lab.simulation.judgement import by_limits, learning_days
from lab.simulation.scheduled import daily, hourly, weekday
from lab.simulation.streams import streaming
from lab.simulation.unscheduled import bursty
from lab.simulation.wall_clock import NEVER_DUE
from lab.simulation.young import FIRST_YOUNG_DAY, LAST_YOUNG_DAY, young
from slis.cadence.working_week import Micros
from slis.spark.session import spark_session

GOAL_FOUND = 0.99
GOAL_FALSE_ALARMS = 1.0
NEAR = 1.2
LEARNED, Z_SCORE, MEDIAN = "learned", "z-score of 14 days", "3 x median gap"
_DAY = 1.0
# Each with the days between two writes, for how soon it is learned again after a change.
_CLASSES: tuple[tuple[Callable[[np.random.Generator, int], Simulated], float], ...] = (
    (daily, _DAY),
    (weekday, _DAY),
    (hourly, _DAY / 24),
    (streaming, _DAY),
    (bursty, _DAY / 2),
)


class RuleFigures(msgspec.Struct, frozen=True):
    """Results of one rule on one class, on its watched days.

    `found_near` is the share of outages found within 1.2 x the delay of the oracle, which knows the
    distribution that each next write is drawn from; both count from the last write before.
    `delay_of_oracles` is the median of such delays, in the oracle's; one of a hundred is beyond
    `longest_of_oracles`. `false_alarms` are a week of 1,000 datasets. `change_alarms`, counted
    apart, are gaps of a cadence that has just grown slower.
    """

    cadence: str
    rule: str
    silences: int
    found_near: float
    false_alarms: float
    change_alarms: int
    delay_of_oracles: float
    longest_of_oracles: float


class FreshnessFigures(msgspec.Struct, frozen=True):
    """Results of all rules on all classes, and the time of the simulation."""

    seed: int
    datasets: int
    seconds: float
    peak_bytes: int
    goal_found_near: float
    goal_false_alarms: float
    rules: list[RuleFigures]


def run(seed: int = 1, datasets: int = 2_000) -> FreshnessFigures:
    """Simulate, learn, judge; each class by itself."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        spark = spark_session(warehouse=Path(folder) / "warehouse")
        try:
            rules = list(figures(spark, Path(folder), seed, datasets // len(_CLASSES)))
            peak = peak_bytes(spark)
        finally:
            spark.stop()
    return FreshnessFigures(
        seed=seed,
        datasets=datasets // len(_CLASSES) * len(_CLASSES),
        seconds=time.monotonic() - started,
        peak_bytes=peak,
        goal_found_near=GOAL_FOUND,
        goal_false_alarms=GOAL_FALSE_ALARMS,
        rules=rules,
    )


def figures(spark: SparkSession, folder: Path, seed: int, count: int) -> Iterator[RuleFigures]:
    """Return figures of each rule, class by class; `count` datasets of each."""
    for place, (simulate, cycle_days) in enumerate(_CLASSES):
        simulated = simulate(np.random.default_rng((seed, place)), count)
        due = by_limits(spark, folder, simulated, learning_days(cycle_days))
        yield judge(LEARNED, simulated, count, due)
        yield _by_day(simulated, count)
        yield judge(MEDIAN, simulated, count, of_median(simulated))
    yield from young_figures(spark, folder, seed, count)


def young_figures(
    spark: SparkSession, folder: Path, seed: int, count: int
) -> Iterator[RuleFigures]:
    """Judge datasets that are few weeks old; a day's limits hold for that day."""
    simulated = young(np.random.default_rng((seed, len(_CLASSES))), count)
    days = np.arange(FIRST_YOUNG_DAY, LAST_YOUNG_DAY).tolist()
    yield judge(LEARNED, simulated, count, by_limits(spark, folder, simulated, days))


def judge(rule: str, simulated: Simulated, count: int, due: Micros) -> RuleFigures:
    """Return figures of a rule that calls each gap late at an instant."""
    gaps = simulated.gaps
    is_late = simulated.watched() & (gaps.ended_at > due)
    return _figures(rule, simulated, count, due, int((is_late & (gaps.kind == USUAL)).sum()))


def _by_day(simulated: Simulated, count: int) -> RuleFigures:
    scores = DailyScores(simulated)
    return _figures(Z_SCORE, simulated, count, scores.found(), scores.false_alarms(FIRST_WATCHED))


def _figures(
    rule: str, simulated: Simulated, count: int, due: Micros, false_alarms: int
) -> RuleFigures:
    gaps = simulated.gaps
    watched = simulated.watched()
    silent = watched & (gaps.kind == SILENCE)
    begun = gaps.started_at[silent]
    ratio = (due[silent] - begun) / (gaps.oracle_due_at[silent] - begun)
    changed = watched & (gaps.kind == CHANGE) & (gaps.ended_at > due) & (due < NEVER_DUE)
    weeks = count * (simulated.last_day - simulated.first_day) / 7
    return RuleFigures(
        cadence=simulated.name,
        rule=rule,
        silences=int(silent.sum()),
        found_near=float((ratio <= NEAR).mean()),
        false_alarms=1_000 * false_alarms / weeks,
        change_alarms=int(changed.sum()),
        delay_of_oracles=float(np.median(ratio)),
        longest_of_oracles=float(np.quantile(ratio, 0.99)),
    )
