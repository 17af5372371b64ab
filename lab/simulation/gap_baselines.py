"""Common rules on the same gaps: a z-score by day, and a multiple of the median gap."""

import numpy as np

from lab.simulation.gaps import SILENCE, USUAL, Simulated
from lab.simulation.wall_clock import DAYS, NEVER_DUE, utc_micros
from lineage.process.clock import DAY_MICROS
from slis.cadence.working_week import Floats, Micros

# Elementary's defaults: 14 daily buckets, the tested one among them; at least 7; 3 deviations.
_BUCKETS, _LEAST_BUCKETS, _SENSITIVITY = 14, 7, 3.0
_MOST_DAYS = 40
MEDIANS = 3.0
_STEP_DAYS = 10
_MEMORY_DAYS = 60


def of_median(simulated: Simulated) -> Micros:
    """Return when each gap is longer than three times the median of the 60 days before it."""
    gaps, count = simulated.gaps, int(simulated.dataset.max()) + 1
    started = simulated.written_at[:-1]
    length = np.diff(simulated.written_at)
    inside = simulated.dataset[1:] == simulated.dataset[:-1]
    due = np.full(gaps.dataset.size, NEVER_DUE)
    first = int(utc_micros(np.zeros(1))[0])
    for day in range(_STEP_DAYS, DAYS, _STEP_DAYS):
        now = first + day * DAY_MICROS
        recent = inside & (started + length <= now) & (started > now - _MEMORY_DAYS * DAY_MICROS)
        usual = _medians(simulated.dataset[:-1][recent], length[recent], count)
        judged = (gaps.started_at >= now) & (gaps.started_at < now + _STEP_DAYS * DAY_MICROS)
        limit = MEDIANS * usual[gaps.dataset[judged]]
        due[judged] = gaps.started_at[judged] + np.where(np.isnan(limit), 0, limit).astype(np.int64)
    return due


def _medians(dataset: Micros, length: Micros, count: int) -> Floats:
    order = np.lexsort((length, dataset))
    held, sorted_length = dataset[order], length[order]
    starts = np.searchsorted(held, np.arange(count))
    sizes = np.searchsorted(held, np.arange(count), side="right") - starts
    middle = np.minimum(starts + sizes // 2, max(0, held.size - 1))
    return np.where(sizes > 0, sorted_length[middle], np.nan)


class DailyScores:
    """Z-score of each day's largest gap among the 14 days that end with it.

    The tested day is in its own training, as Elementary's `freshness_anomalies` has it unless it is
    set otherwise: among n values none is further than (n - 1) / sqrt(n) deviations.
    """

    def __init__(self, simulated: Simulated) -> None:
        self._gaps = simulated.gaps
        self._count = int(simulated.dataset.max()) + 1
        self._first = int(utc_micros(np.zeros(1))[0])
        self._values = self._buckets()

    def _buckets(self) -> Floats:
        """Return seconds of the largest gap that ended on a day, or was open at its end."""
        gaps = self._gaps
        values = np.zeros((self._count, DAYS + 2))
        length = (gaps.ended_at - gaps.started_at) / 1e6
        day = (gaps.ended_at - self._first) // DAY_MICROS
        np.maximum.at(values, (gaps.dataset, np.clip(day, 0, DAYS + 1)), length)
        opened = (gaps.started_at - self._first) // DAY_MICROS
        for passed in range(int((day - opened).max())):
            open_ = opened + passed < day
            end = self._first + (opened + passed + 1) * DAY_MICROS
            age = (end - gaps.started_at)[open_] / 1e6
            place = (gaps.dataset[open_], np.clip(opened[open_] + passed, 0, DAYS + 1))
            np.maximum.at(values, place, age)
        return values[:, :DAYS]

    def found(self) -> Micros:
        """Return when each outage is an anomaly, at the end of a day; else `NEVER_DUE`."""
        gaps = self._gaps
        due = np.full(gaps.dataset.size, NEVER_DUE)
        places = np.flatnonzero(gaps.kind == SILENCE)
        begun = (gaps.started_at[places] - self._first) // DAY_MICROS
        window = np.stack(
            [self._values[gaps.dataset[places], np.maximum(begun - n, 0)] for n in range(13, 0, -1)]
        )
        for passed in range(_MOST_DAYS):
            end = self._first + (begun + passed + 1) * DAY_MICROS
            age = (end - gaps.started_at[places]) / 1e6
            window = np.concatenate((window, age[None]))[-_BUCKETS:]
            is_new = (_z_score(window) > _SENSITIVITY) & (due[places] == NEVER_DUE)
            due[places[is_new]] = end[is_new]
        return due

    def false_alarms(self, first_day: int) -> int:
        """Return days on which an anomaly begins that no outage or change of cadence explains."""
        is_anomaly = np.zeros(self._values.shape, dtype=np.bool_)
        for day in range(_LEAST_BUCKETS, DAYS):
            window = self._values[:, max(0, day - _BUCKETS + 1) : day + 1].T
            is_anomaly[:, day] = _z_score(window) > _SENSITIVITY
        begins = is_anomaly[:, 1:] & ~is_anomaly[:, :-1] & ~self._explained()[:, 1:]
        return int(begins[:, first_day - 1 : DAYS - 2].sum())

    def _explained(self) -> np.ndarray:
        gaps = self._gaps
        is_anomaly = np.zeros(self._values.shape, dtype=np.bool_)
        other = gaps.kind != USUAL
        begin = (gaps.started_at[other] - self._first) // DAY_MICROS
        end = (gaps.ended_at[other] - self._first) // DAY_MICROS
        for dataset, first, last in zip(gaps.dataset[other], begin, end, strict=True):
            is_anomaly[dataset, max(0, first) : last + 1] = True
        return is_anomaly


def _z_score(window: Floats) -> Floats:
    """Return the z-score of the last of each column."""
    deviation = window.std(axis=0, ddof=1)
    usual = np.where(deviation > 0, deviation, 1.0)
    return np.where(deviation > 0, (window[-1] - window.mean(axis=0)) / usual, 0.0)
