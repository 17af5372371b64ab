"""Delays by nearest rank, and the criteria of a day."""

import msgspec

from lab.gameday.live.figures import Spread, failed_live_criteria, spread
from lab.gameday.score_shapes import FaultScore, Score
from tests.lab.gameday.truths import RIGHT, UNDETECTED

QUIET = msgspec.structs.replace(UNDETECTED, kind="retried_run", expect="silence", root_right=None)


def score(*faults: FaultScore, false_pages=0):
    return Score(1, 100, 0, faults, false_pages, None, 60.0, None)


def test_one_of_twenty_is_beyond():
    """Accept nineteen of twenty within the p95; skip unknown delays."""
    assert spread([*map(float, range(20, 0, -1)), None]) == Spread(20, 10.0, 19.0, 20.0)
    assert spread([None]) == Spread(0, None, None, None)


def test_correct_faults_pass():
    """Accept faults that were notified and resolved, or silent."""
    assert failed_live_criteria(score(RIGHT, QUIET)) == []


def test_a_false_page_fails_the_day():
    """Fail for any length of the page: a day has no monthly rate."""
    assert failed_live_criteria(score(RIGHT, false_pages=1)) == ["false pages: 1"]


def test_an_incident_that_is_never_resolved_fails_the_day():
    """Fail while an incident stays open."""
    standing = msgspec.structs.replace(RIGHT, seconds_to_resolved=None)

    assert failed_live_criteria(score(standing)) == ["never resolved: killed_job"]
