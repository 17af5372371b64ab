"""Rules of others on real histories: a z-score by day, a multiple of the median gap."""

import numpy as np

from lab.histories.folder import WriteHistory
from lab.simulation.wall_clock import NEVER_DUE
from lineage.process.clock import DAY_MICROS
from slis.cadence.working_week import Floats, Micros

# Elementary's defaults: 14 daily buckets, the tested one among them; at least 7; 3 deviations.
BUCKETS, LEAST_BUCKETS, SENSITIVITY = 14, 7, 3.0
MEDIANS = 3.0
_MEMORY = 60 * DAY_MICROS


def usual_gaps(history: WriteHistory) -> Floats:
    """Return the median gap of the 60 days before each gap, in microseconds; NaN without any."""
    at = history.written_at
    gaps = np.diff(at)
    first = np.searchsorted(at, at - _MEMORY)
    medians = [
        np.median(gaps[begin:end]) if end > begin else np.nan
        for end, begin in enumerate(first[:-1].tolist())
    ]
    return np.array(medians)


def by_median(history: WriteHistory, medians: float = MEDIANS) -> Micros:
    """Return when each gap is longer than so many median gaps of the 60 days before it."""
    limit = medians * usual_gaps(history)
    due = history.written_at[:-1] + np.nan_to_num(limit).astype(np.int64)
    return np.where(np.isnan(limit), NEVER_DUE, due)


def by_day(history: WriteHistory, sensitivity: float = SENSITIVITY) -> Micros:
    """Return the end of the first day whose largest gap is an anomaly, of each gap open then."""
    at = history.written_at
    scores = _scores(at)
    first_day = int(at[0]) // DAY_MICROS
    opened, ended = at[:-1] // DAY_MICROS - first_day, at[1:] // DAY_MICROS - first_day
    anomalies = np.flatnonzero(scores > sensitivity)
    place = np.searchsorted(anomalies, opened)
    day = np.append(anomalies, NEVER_DUE // DAY_MICROS - first_day - 1)[place]
    return np.where(day < ended, (first_day + day + 1) * DAY_MICROS, NEVER_DUE)


def _scores(at: Micros) -> Floats:
    """Return the z-score of each day's largest gap among the 14 days that end with it."""
    values = _largest_by_day(at)
    padded = np.concatenate([np.full(BUCKETS - 1, np.nan), values])
    window = np.lib.stride_tricks.sliding_window_view(padded, BUCKETS)
    known = np.minimum(np.arange(values.size) + 1, BUCKETS)
    mean = np.nanmean(window, axis=1)
    squares = np.nansum(np.square(window - mean[:, None]), axis=1)
    deviation = np.sqrt(squares / np.maximum(known - 1, 1))
    is_known = (known >= LEAST_BUCKETS) & (deviation > 0)
    return np.where(is_known, (values - mean) / np.where(is_known, deviation, 1.0), 0.0)


def _largest_by_day(at: Micros) -> Floats:
    """Return the largest gap that ended on each day, or its age where it was open at its end."""
    first_day = int(at[0]) // DAY_MICROS
    days = int(at[-1]) // DAY_MICROS - first_day + 1
    values = np.zeros(days)
    np.maximum.at(values, at[1:] // DAY_MICROS - first_day, np.diff(at).astype(np.float64))
    ends = (first_day + np.arange(days) + 1) * DAY_MICROS
    newest = at[np.searchsorted(at, ends) - 1]
    values[:-1] = np.maximum(values[:-1], (ends - newest)[:-1])
    return values
