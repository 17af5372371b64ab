"""How fast people were told on the real clock, and what must hold of such a day."""

import math
from collections.abc import Iterable

import msgspec

from runbooks.gameday import verdict
from runbooks.gameday.scores import Score


class Spread(msgspec.Struct, frozen=True):
    """Of seconds: the middle, what one of twenty is beyond, and the most; null of none."""

    count: int
    p50: float | None
    p95: float | None
    most: float | None


def spread(seconds: Iterable[float | None]) -> Spread:
    """By nearest rank; what is not known is not counted."""
    found = sorted(each for each in seconds if each is not None)
    if not found:
        return Spread(0, None, None, None)
    return Spread(len(found), _rank(found, 0.5), _rank(found, 0.95), found[-1])


def _rank(found: list[float], share: float) -> float:
    return found[math.ceil(share * len(found)) - 1]


def failings(score: Score) -> list[str]:
    """What does not hold, each in a sentence: of one day nobody is to be rung for nothing."""
    found = verdict.failings([score])
    if score.false_pages:
        found.append(f"false pages: {score.false_pages}")
    for each in score.faults:
        if each.detected and each.expect != "silence" and each.seconds_to_resolved is None:
            found.append(f"never called over: {each.kind}")
    return found
