"""The answer to "are we all right?", by what is known."""

import pytest

from service.answers.shapes import SliAnswer, SliRow
from service.explorer.overview import Verdict, cell_state, verdict


def _answer(rows):
    return SliAnswer(rows, None, stale=False, partial=False, partial_reason=None)


def _sli(ratio, objective=0.99):
    return SliRow("M1", "coverage", "critical", 1, 1, ratio, objective)


@pytest.mark.parametrize(
    ("ratio", "objective", "state"),
    [(0.9, 0.9, "good"), (0.89, 0.9, "bad"), (0.1, None, "free"), (None, 0.9, "unknown")],
)
def test_a_ratio_is_good_or_bad_by_its_objective_alone(ratio, objective, state):
    """Where nothing says how much would be enough, there is no tick."""
    assert cell_state(_sli(ratio, objective)) == state


_COUNTS = {"bad": 0, "failing": 0, "unknown": 0, "learning": 0, "good": 3}


@pytest.mark.parametrize(
    ("rows", "counts", "doubts", "state", "says"),
    [
        ([_sli(1.0)], {}, [], "good", "All right"),
        ([_sli(0.9)], {}, [], "bad", "Not all right"),
        ([_sli(1.0)], {"bad": 1}, [], "bad", "Not all right"),
        ([_sli(1.0)], {"failing": 1}, [], "bad", "Not all right"),
        ([_sli(1.0)], {"unknown": 1}, [], "unknown", "No fault is known"),
        ([_sli(1.0), _sli(None)], {}, [], "good", "No fault is known"),
        ([_sli(None)], {}, [], "unknown", "No fault is known"),
        ([], {}, [], "unknown", "No fault is known"),
        ([_sli(1.0)], {"good": 0, "learning": 5}, [], "unknown", "No fault is known"),
        ([_sli(1.0)], {}, ["stale"], "unknown", "Not known"),
        ([], {"good": 0}, [], "unknown", "Not known"),
    ],
)
def test_all_right_is_said_only_where_everything_is_known(rows, counts, doubts, state, says):
    """One thing that is bad is enough, and so is one that is not known."""
    found = verdict([], _answer(rows), _COUNTS | counts, doubts)

    assert (found.state, found.words) == (state, says)


def test_what_keeps_it_from_all_right_is_told():
    """Five datasets whose cadence is not known yet, and nothing measured: no tick, and why."""
    found = verdict([], _answer([_sli(None)]), _COUNTS | {"good": 0, "learning": 5}, [])

    because = ["no dataset is known to be good", "1 objective has no sample"]
    assert found == Verdict("unknown", "No fault is known", because)
