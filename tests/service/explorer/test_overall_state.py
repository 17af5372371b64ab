"""Overall state."""

import pytest

from service.explorer.overview import OverallState, cell_state, verdict
from service.queries.shapes import SliAnswer, SliRow


def _answer(rows):
    return SliAnswer(rows, None, stale=False, partial=False, partial_reason=None)


def _sli(ratio, objective=0.99):
    return SliRow("M1", "coverage", "critical", 1, 1, ratio, objective)


@pytest.mark.parametrize(
    ("ratio", "objective", "state"),
    [(0.9, 0.9, "good"), (0.89, 0.9, "bad"), (0.1, None, "free"), (None, 0.9, "unknown")],
)
def test_cell_state_follows_the_objective(ratio, objective, state):
    """Show no tick without an objective."""
    assert cell_state(_sli(ratio, objective)) == state


_COUNTS = {"bad": 0, "failing": 0, "unknown": 0, "learning": 0, "good": 3}


@pytest.mark.parametrize(
    ("rows", "counts", "doubts", "state", "says"),
    [
        ([_sli(1.0)], {}, [], "good", "Healthy"),
        ([_sli(0.9)], {}, [], "bad", "Degraded"),
        ([_sli(1.0)], {"bad": 1}, [], "bad", "Degraded"),
        ([_sli(1.0)], {"failing": 1}, [], "bad", "Degraded"),
        ([_sli(1.0)], {"unknown": 1}, [], "unknown", "No known problems"),
        ([_sli(1.0), _sli(None)], {}, [], "good", "No known problems"),
        ([_sli(None)], {}, [], "unknown", "No known problems"),
        ([], {}, [], "unknown", "No known problems"),
        ([_sli(1.0)], {"good": 0, "learning": 5}, [], "unknown", "No known problems"),
        ([_sli(1.0)], {}, ["stale"], "unknown", "Unknown"),
        ([], {"good": 0}, [], "unknown", "Unknown"),
    ],
)
def test_healthy_needs_current_data_for_everything(rows, counts, doubts, state, says):
    """Report a problem for one bad fact, and doubt for one unknown fact."""
    found = verdict([], _answer(rows), _COUNTS | counts, doubts)

    assert (found.state, found.words) == (state, says)


def test_reasons_against_healthy_are_listed():
    """List the reasons for five datasets with an unknown cadence and no data."""
    found = verdict([], _answer([_sli(None)]), _COUNTS | {"good": 0, "learning": 5}, [])

    because = ["no dataset is known to be good", "1 objective has no data"]
    assert found == OverallState("unknown", "No known problems", because)
