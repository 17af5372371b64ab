"""Delays of notifications on the real clock, and the criteria of such a day."""

import math
from collections.abc import Iterable

import msgspec

from lab.gameday import verdict
from lab.gameday.score_shapes import Score


class Spread(msgspec.Struct, frozen=True):
    """Median, 95th percentile and maximum of seconds; null without values."""

    count: int
    p50: float | None
    p95: float | None
    most: float | None


def spread(seconds: Iterable[float | None]) -> Spread:
    """Return count, median, 95th percentile and maximum of the known values, by nearest rank."""
    found = sorted(each for each in seconds if each is not None)
    if not found:
        return Spread(0, None, None, None)
    return Spread(len(found), _rank(found, 0.5), _rank(found, 0.95), found[-1])


def _rank(found: list[float], share: float) -> float:
    return found[math.ceil(share * len(found)) - 1]


def failed_live_criteria(score: Score) -> list[str]:
    """Return the criteria that fail, each in a sentence; a day may have no false page."""
    found = verdict.failed_criteria([score])
    if score.false_pages:
        found.append(f"false pages: {score.false_pages}")
    for each in score.faults:
        if each.detected and each.expect != "silence" and each.seconds_to_resolved is None:
            found.append(f"never resolved: {each.kind}")
    return found
