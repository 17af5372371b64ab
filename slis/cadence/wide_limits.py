"""Limits where a tail cannot be learned: slow schedules, new cadences, feeds with few writes."""

import numpy as np

from slis.cadence.training import MIN_GAPS, median_deviation
from slis.cadence.working_week import Floats

# Alike gaps of ten days or more, from three on: a monthly feed has six in half a year.
SLOW = "slow"
# A new cadence with fewer than eight gaps, of a dataset that has more of the old one.
CHANGING = "changing"
# Three to seven gaps in all: `learning`, and bad once if nothing is written for very long.
FEW = "learning"
WIDE = (SLOW, CHANGING, FEW)
LEAST_GAPS = 3
_LONG_CADENCE_SECONDS = 10 * 86_400.0
_ALIKE = 0.2
# Of a usual gap beyond the longest: from three gaps on, and once eight are known.
_FEW_MARGIN, _MARGIN = 0.5, 0.25
_CHANGING_MARGIN = 0.5
# A feed that is learning has ended when it is silent for three times its longest gap.
_ENDED_FACTOR, _ENDED_SECONDS = 3.0, 14 * 86_400.0


def wide_limit(gaps: Floats, trained: int) -> tuple[str, float] | None:
    """Return a class and its limit; None where a tail says more, or where too little is known.

    Args:
        gaps: that may teach, misses included, in order.
        trained: how many gaps of the present cadence are known.
    """
    if gaps.size < LEAST_GAPS:
        return None
    usual, longest = float(np.median(gaps)), float(gaps.max())
    if usual >= _LONG_CADENCE_SECONDS and median_deviation(gaps, usual) <= _ALIKE * usual:
        return SLOW, _slow_limit(gaps, usual)
    if trained >= MIN_GAPS:
        return None
    if gaps.size >= MIN_GAPS:
        return CHANGING, longest + _CHANGING_MARGIN * usual
    return FEW, max(_ENDED_FACTOR * longest, _ENDED_SECONDS)


def _slow_limit(gaps: Floats, usual: float) -> float:
    """Return the longest gap that is no miss, and a part of the usual one."""
    longest = float(gaps[gaps <= (1 + _FEW_MARGIN) * usual].max())
    return longest + (_MARGIN if gaps.size >= MIN_GAPS else _FEW_MARGIN) * usual
