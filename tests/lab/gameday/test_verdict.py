"""Criteria, on scores that just pass and just fail."""

import msgspec
import pytest

from lab.gameday.score_shapes import BaselineScore, FaultScore, Score
from lab.gameday.verdict import failed_criteria, false_page_rate
from tests.lab.gameday.truths import RIGHT, UNDETECTED

QUIET = msgspec.structs.replace(UNDETECTED, kind="backfill", expect="silence", root_right=None)
BASELINE = BaselineScore(0, 0, None, None, None, None)


def score(*faults: FaultScore, false_pages=0):
    return Score(1, 2_000, 30, faults, false_pages, BASELINE, 0.0, 0)


def but(**changed: object):
    return msgspec.structs.replace(RIGHT, **changed)


def test_correct_seeds_pass():
    """Accept three seeds without a flaw."""
    assert failed_criteria([score(RIGHT, QUIET)] * 3) == []


@pytest.mark.parametrize(
    ("bad", "failing"),
    [
        ({"detected": False, "expect": "ticket", "pages": 0}, "faults detected: 0.9833"),
        ({"root_right": False}, "root named right: 0.9000"),
        ({"owner_right": False}, "owner right: 0.9667"),
        ({"impact_recall": 0.0}, "recall of the impacted set: 0.9833"),
        ({"impact_precision": 0.0}, "precision of the impacted set: 0.9833"),
        ({"pages": 3}, "3 pages for one killed_job"),
        ({"pages": 2}, "pages for one fault: 1.100"),
        ({"pages": 0}, "no page for a fault that expects one: killed_job"),
    ],
)
def test_each_figure_is_judged(bad, failing):
    """Use as many bad ones among sixty as break the criterion."""
    count = {"root named right: 0.9000": 6, "owner right: 0.9667": 2}.get(failing, 1)
    count = 6 if failing.startswith("pages for one") else count
    faults = [but(**bad)] * count + [RIGHT] * (60 - count)

    assert any(each.startswith(failing) for each in failed_criteria([score(*faults)]))


def test_seeds_are_judged_together():
    """Fail one wrong root of twenty, although all of another seed are correct."""
    flawed = score(*[but(root_right=False)] * 2, *[RIGHT] * 18)

    assert failed_criteria([flawed]) != []
    assert failed_criteria([flawed, score(*[RIGHT] * 20)]) == []


def test_a_notified_silent_fault_fails():
    """Fail with one notified backfill."""
    assert failed_criteria([score(RIGHT, msgspec.structs.replace(QUIET, detected=True))]) == [
        "not silent: backfill"
    ]


def test_false_pages_by_datasets_and_days():
    """Allow two of 2,000 datasets in 30 days, one of 1,000; three are too many."""
    assert false_page_rate([score(RIGHT, false_pages=2)]) == 1.0
    assert failed_criteria([score(RIGHT, false_pages=2)]) == []
    assert failed_criteria([score(RIGHT, false_pages=3)]) == [
        "false pages: 1.50 of 1,000 datasets in 30 days, at most 1"
    ]


def test_a_second_in_unknown_fails():
    """Fail a second in unknown: unknown is no excuse."""
    assert failed_criteria([score(RIGHT)], 1.0) == ["1 s in unknown outside ingestion faults"]
