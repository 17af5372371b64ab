"""Gaps that nobody schedules: of bursts, or of whatever happens when it happens."""

import numpy as np

from slis.cadence.training import MIN_GAPS, Places
from slis.cadence.working_week import Floats

_BURST = 0.1
# Natural pauses of 1,000 weeks end before so many medians; outages mostly do not.
MISS_MEDIANS = 8.0
# Log likelihood that a change of the mean must gain, whenever it may have been; to shorter gaps it
# must gain more. In half a year so many in a row are short by chance that limits of a third of what
# they should be made a third of all false alarms.
_SLOWER, _FASTER = 8.0, 16.0
_LEAST_GAP, _LEAST_UNLIKE = 1.0, 1e-6
_LEAST_VARIATION, _MOST_VARIATION = 0.05, 1.0


def bursts_end_at(gaps: Floats) -> float | None:
    """Return the gap that ends a burst; None where writes do not come in bursts.

    Many short gaps and few long ones: most of the time lies between the bursts. The border is
    between the usual gap, one inside a burst, and the mean, which the long ones make.
    """
    if gaps.size < MIN_GAPS:
        return None
    usual, mean = float(np.median(gaps)), float(gaps.mean())
    return float(np.sqrt(usual * mean)) if usual < _BURST * mean else None


def gamma_deviation(gaps: Floats) -> float:
    """Return the deviation of gamma distributed gaps of this mean and this mean of logarithms.

    It errs a seventh less than the plain deviation, which the few longest gaps make; of gaps that
    are distributed otherwise it is a measure like another, since the pool's tail is in units of it.
    The shape is Thom's approximation of the likeliest (1958).
    """
    mean = float(gaps.mean())
    unlike = max(float(np.log(mean) - np.log(np.maximum(gaps, _LEAST_GAP)).mean()), _LEAST_UNLIKE)
    shape = (1 + np.sqrt(1 + 4 * unlike / 3)) / (4 * unlike)
    return mean / float(np.sqrt(shape))


def irregular(gaps: Floats) -> Places:
    """Return which gaps came since the last change of their mean, without misses."""
    kept = np.flatnonzero(gaps <= MISS_MEDIANS * np.median(gaps))
    while (change := _change(gaps[kept])) is not None:
        kept = kept[change:]
    return kept


def _change(gaps: Floats) -> int | None:
    """Return where the mean changed, by the largest gain in likelihood of any split in two.

    A CUSUM against the first few gaps would cut again and again: their mean is no standard.
    """
    size = gaps.size
    if size < 3 * MIN_GAPS:
        return None
    sums = np.cumsum(gaps)
    split = np.arange(MIN_GAPS, size - MIN_GAPS + 1)
    before = sums[split - 1] / split
    after = (sums[-1] - sums[split - 1]) / (size - split)
    mean = sums[-1] / size
    variation = float(np.clip((gaps.std() / mean) ** 2, _LEAST_VARIATION, _MOST_VARIATION))
    gain = size * np.log(mean) - split * np.log(before) - (size - split) * np.log(after)
    gain -= np.where(after > before, _SLOWER, _FASTER) * variation
    best = int(gain.argmax())
    return int(split[best]) if gain[best] > 0 else None
