"""Batches of which an evaluation is to know soon."""

import pytest
from sqlalchemy import text

from lineage.catalog.queries import STATES_BY_SEVERITY
from tests.slis.stream.spools import run_event

_FAILED = {"assertion": "unique", "column": "id", "success": False, "severity": "error"}


def _event(at, kind, run):
    given = {"run": run, "inputs": ["in"], "outputs": ["out"]}
    event = run_event("FAIL" if kind == "failure" else "COMPLETE", at, **given)
    if kind == "assertion":
        tested = {"dataQualityAssertions": {"assertions": [_FAILED]}}
        event["inputs"][0]["inputFacets"] = tested
    return event


@pytest.mark.parametrize(
    ("state", "kind", "is_news"),
    [
        ("good", "write", False),
        ("learning", "write", False),
        ("good", "failure", True),
        ("good", "assertion", True),
        ("bad", "write", True),
        ("unknown", "write", True),
        (None, "write", True),
    ],
)
def test_failures_and_changes_of_what_is_not_good_are_news(  # noqa: PLR0913, PLR0917 - a row
    lander, catalog, at, state, kind, is_news
):
    """Distinguish a batch that confirms what is known from one that may change a state."""
    lander.land(_event(at(8), "write", "r1"))
    if state is not None:
        with catalog.begin() as connection:
            rank = {"rank": STATES_BY_SEVERITY.index(state)}
            connection.execute(text("UPDATE dataset SET state_rank = :rank"), rank)

    assert lander.land(_event(at(9), kind, "r2")).is_news is is_news
