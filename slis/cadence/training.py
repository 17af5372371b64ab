"""Selection of the gaps between writes that a dataset's cadence is learned from.

One gap decides whether the next may train: that is a loop over a sequence, which neither a window
function nor an aggregate of Spark can express. So each dataset's gaps come here as one array.
"""

from bisect import insort
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd

from lineage.graph.adjacency import Flags
from slis.cadence.working_week import Floats

Places = npt.NDArray[np.int64]

MIN_GAPS = 8
_AGREEING, _RECENT = 3, 4
_AGREEMENT = 0.25
_MISS_FACTOR = 1.5
_MISS_MADS = 10.0
_LEAST_SPREAD = 0.05
OWN_MARGIN = 1.1
# Gaps before one with failed runs that show what is usual there.
_LOOK_BACK = 64
# In units of the spread of log gaps: drift that is let pass, sum that is a change, most that one
# gap may add, so that no single gap is a change.
_CUSUM_SLACK, _CUSUM_ALARM, _CUSUM_STEP = 0.5, 8.0, 3.0
_LEAST_LOG_SPREAD = 0.2


def outage_gaps(gaps: Floats, has_failed: Flags) -> Flags:
    """Return gaps in which a run failed, far beyond those of the 64 before in which none did.

    They teach nothing, however many agree: a job that flaps keeps to no slower cadence. Where
    hardly a gap is without a failure, failing is how the job goes, and every gap teaches.
    """
    usual = pd.Series(np.where(has_failed, np.nan, gaps)).rolling(_LOOK_BACK, min_periods=MIN_GAPS)
    before = usual.median().shift(1).to_numpy()
    return np.asarray(has_failed & (gaps > _MISS_FACTOR * before))


def training_gaps(gaps: Floats) -> Places:
    """Return the training gaps: those since the last change of cadence, without misses."""
    kept = without_misses(gaps)
    return kept[since_change(gaps[kept]) :]


def without_misses(gaps: Floats) -> Places:
    """Leave out gaps far beyond those before them, until three in a row agree on a new cadence."""
    kept: list[int] = []
    ordered: list[float] = []
    missed: list[int] = []
    for place, gap in enumerate(gaps.tolist()):
        if len(kept) < MIN_GAPS or not _is_miss(gap, ordered):
            missed.clear()
        else:
            missed.append(place)
            if not _agree(gaps[missed[-_RECENT:]]):
                continue
            # They are the new cadence, and what was before is of no use to it.
            kept = missed[-_RECENT:-1]
            ordered = sorted(gaps[kept].tolist())
            missed.clear()
        kept.append(place)
        insort(ordered, gap)
    return np.array(kept, dtype=np.int64)


def _is_miss(gap: float, ordered: list[float]) -> bool:
    median = ordered[len(ordered) // 2]
    if gap <= _MISS_FACTOR * median or gap <= OWN_MARGIN * ordered[-1]:
        return False
    spread = max(median_deviation(np.array(ordered), median), _LEAST_SPREAD * median)
    return gap > median + _MISS_MADS * spread


def _agree(missed: Floats) -> bool:
    """Require three of the last four: an outage may fall among the first of a new cadence."""
    middle = float(np.median(missed))
    is_near = np.abs(missed - middle) <= _AGREEMENT * middle
    return int(is_near.sum()) >= _AGREEING


def since_change(gaps: Floats) -> int:
    """Return where the last change of cadence began, by a two-sided CUSUM; 0: nowhere."""
    start = 0
    while (change := _change(gaps[start:])) is not None:
        start += change
    return start


def _change(gaps: Floats) -> int | None:
    """Return where the first change began; None when there is none."""
    if gaps.size <= MIN_GAPS:
        return None
    logs = np.log(np.maximum(gaps, 1e-6))
    usual = float(np.median(logs[:MIN_GAPS]))
    spread = max(1.4826 * median_deviation(logs[:MIN_GAPS], usual), _LEAST_LOG_SPREAD)
    steps = np.clip((logs - usual) / spread, -_CUSUM_STEP, _CUSUM_STEP)
    onsets = [onset for side in (1.0, -1.0) if (onset := _onset(side * steps)) is not None]
    # A change within the first gaps, which set the standard, cannot be detected.
    return max(1, min(onsets)) if onsets else None


def _onset(steps: Floats) -> int | None:
    """Return where the sum that reaches the alarm last stood at zero."""
    sums = [0.0]
    for step in steps.tolist():
        sums.append(max(0.0, sums[-1] + step - _CUSUM_SLACK))
        if sums[-1] > _CUSUM_ALARM:
            zeros = [index for index, (before, _) in enumerate(pairwise(sums)) if before == 0.0]
            return zeros[-1]
    return None


def median_deviation(values: Floats, middle: float) -> float:
    """Return the median absolute deviation."""
    return float(np.median(np.abs(values - middle)))
