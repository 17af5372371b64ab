"""Learned limits measured on real histories, beside a z-score and a multiple of the median."""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
from pyspark.sql import SparkSession

from lab.bench.evaluate import peak_bytes
from lab.bench.freshness import LEARNED, MEDIAN, Z_SCORE
from lab.histories import history_baselines
from lab.histories.counts import (
    ALL,
    SCHEDULED_ALL,
    AlarmFigures,
    JudgedWrites,
    class_figures,
    false_alarm_rate,
    judge_gaps,
    outages_found,
)
from lab.histories.folder import WriteHistory, read_histories
from lab.histories.walk import learned_deadlines
from lab.simulation.wall_clock import NEVER_DUE
from slis.cadence.working_week import Floats, Micros
from slis.spark.session import spark_session

GOAL_SCHEDULED, GOAL_ALL = 5.0, 35.0
# What each rule is varied by for the curve: times the learned limit, deviations, medians.
_FACTORS = (0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0)
_SENSITIVITIES = (1.5, 2.0, 2.5, 2.75, 3.0, 3.1, 3.2, 3.3)
_MULTIPLES = (1.1, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 9.0, 14.0)
_Due = tuple[float, Micros]


class CurvePoint(msgspec.Struct, frozen=True):
    """Scheduled feeds by one rule with one parameter."""

    rule: str
    parameter: float
    false_alarms_per_1000_weeks: float
    outages_found: int
    outages: int


class FoldFigures(msgspec.Struct, frozen=True):
    """Scheduled feeds of one repository, by the parameter that suits the other repositories."""

    rule: str
    repository: str
    parameter: float
    false_alarms_per_1000_weeks: float
    outages_found: int
    outages: int


class CadenceFigures(msgspec.Struct, frozen=True):
    """Figures of the histories by class, by parameter and by repository."""

    series: int
    gaps: int
    seconds: float
    peak_bytes: int
    goal_scheduled_false_alarms: float
    goal_all_false_alarms: float
    classes: list[AlarmFigures]
    curve: list[CurvePoint]
    folds: list[FoldFigures]


def run(folder: str) -> CadenceFigures:
    """Replay the histories of a folder.

    Raises:
        InvalidHistoriesError: the folder has another format.
    """
    started = time.monotonic()
    histories = read_histories(Path(folder))
    with tempfile.TemporaryDirectory() as scratch:
        spark = spark_session(warehouse=Path(scratch) / "warehouse")
        try:
            figures = measure(spark, histories)
            peak = peak_bytes(spark)
        finally:
            spark.stop()
    return msgspec.structs.replace(figures, seconds=time.monotonic() - started, peak_bytes=peak)


def measure(spark: SparkSession, histories: Sequence[WriteHistory]) -> CadenceFigures:
    """Judge each gap by each rule."""
    learned = learned_deadlines(spark, histories)
    gaps = judge_gaps(histories, learned)
    varied = {
        LEARNED: _scaled(gaps, np.concatenate(learned)),
        Z_SCORE: _each(histories, history_baselines.by_day, _SENSITIVITIES),
        MEDIAN: _each(histories, history_baselines.by_median, _MULTIPLES),
    }
    usual = {
        LEARNED: 1.0,
        Z_SCORE: history_baselines.SENSITIVITY,
        MEDIAN: history_baselines.MEDIANS,
    }
    return CadenceFigures(
        series=len(histories),
        gaps=gaps.label.size,
        seconds=0.0,
        peak_bytes=0,
        goal_scheduled_false_alarms=GOAL_SCHEDULED,
        goal_all_false_alarms=GOAL_ALL,
        classes=[
            class_figures(name, rule, gaps, dict(dues)[usual[rule]])
            for name in (*sorted(set(gaps.cadence.tolist())), SCHEDULED_ALL, ALL)
            for rule, dues in varied.items()
        ],
        curve=[_point(rule, gaps, due) for rule, dues in varied.items() for due in dues],
        folds=[fold for rule, dues in varied.items() for fold in _folds(rule, gaps, dues)],
    )


def _scaled(gaps: JudgedWrites, due: Micros) -> list[_Due]:
    """Return the learned deadlines, with limits that are longer or shorter by a factor."""
    limit = np.where(gaps.has_limit, due - gaps.started_at, 0).astype(np.float64)
    return [(factor, _later(gaps, factor * limit)) for factor in _FACTORS]


def _later(gaps: JudgedWrites, limit: Floats) -> Micros:
    return np.where(gaps.has_limit, gaps.started_at + limit.astype(np.int64), NEVER_DUE)


def _each(
    histories: Sequence[WriteHistory],
    rule: Callable[[WriteHistory, float], Micros],
    parameters: Sequence[float],
) -> list[_Due]:
    return [
        (parameter, np.concatenate([rule(history, parameter) for history in histories]))
        for parameter in parameters
    ]


def _point(rule: str, gaps: JudgedWrites, due: _Due) -> CurvePoint:
    among = gaps.of_classes(SCHEDULED_ALL)
    rate = false_alarm_rate(gaps, due[1], among)
    return CurvePoint(rule, due[0], rate, *outages_found(gaps, due[1], among))


def _folds(rule: str, gaps: JudgedWrites, dues: Sequence[_Due]) -> Iterator[FoldFigures]:
    """Choose on the other repositories: most outages found of what keeps to the goal there."""
    scheduled = gaps.of_classes(SCHEDULED_ALL)
    for repository in sorted(set(gaps.repository[scheduled].tolist())):
        own = scheduled & (gaps.repository == repository)
        parameter, due = max(dues, key=lambda one: _worth(gaps, one[1], scheduled & ~own))
        rate = false_alarm_rate(gaps, due, own)
        yield FoldFigures(rule, repository, parameter, rate, *outages_found(gaps, due, own))


def _worth(gaps: JudgedWrites, due: Micros, among: np.ndarray) -> tuple[float, float]:
    """Rank what keeps to the goal by the outages found, and the rest by its false alarms."""
    rate = false_alarm_rate(gaps, due, among)
    excess = max(0.0, rate - GOAL_SCHEDULED)
    return -excess, float(outages_found(gaps, due, among)[0])
