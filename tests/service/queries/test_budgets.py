"""What is left of error budgets, and of which nothing can be said."""

from datetime import timedelta

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import open_reader
from service.explorer.words import budget_text
from service.queries.budgets import BudgetLeft, budgets_left
from tests.service import shop

pytestmark = pytest.mark.postgres_nightly

NOW = shop.DAY + timedelta(hours=3)
_OBJECTIVES = {("M1", "critical"): 0.9, ("M7", "all"): 0.9, ("M10", "all"): 1.0}


def _left(catalog, *hours: tuple[str, str, float, float, float, float], days: float = 15):
    """Return what is left by these hours (SLI, tier, how long ago, good, total, unknown).

    Counting began so many days ago.
    """
    first = {(sli, tier, days * 24, 0, 0, 0) for sli, tier, *_ in hours}
    with write_transaction(catalog) as connection:
        for sli, tier, ago, good, total, unknown in (*first, *hours):
            table = tables.served_hour if sli in {"M7", "M10"} else tables.sli_hour
            counts = {"good": good, "total": total, "unknown": unknown}
            row = {"sli": sli, "tier": tier, "hour": shop.at(3 - ago), **counts}
            connection.execute(insert(table), [row])
    with open_reader(catalog.url.render_as_string(hide_password=False)) as reader:
        found = budgets_left(reader, _OBJECTIVES, NOW)
    return {name: _shown(left) for name, left in found.items()}


def _shown(left: BudgetLeft) -> float | str:
    return budget_text(left) if left.ratio is None else round(left.ratio, 6)


def test_what_was_bad_is_taken_off_what_may_be(catalog):
    """Of 100 ten may be bad: of 5 that are half is left, of 20 it is overspent once."""
    left = _left(catalog, ("M1", "critical", 1, 95, 100, 0), ("M7", "all", 1, 80, 100, 0))

    assert left == {("M1", "critical"): 0.5, ("M7", "all"): -1.0}


@pytest.mark.parametrize(("unknown", "left"), [(5, {("M1", "critical"): 0.5}), (6, {})])
def test_of_what_is_unknown_by_over_a_twentieth_there_is_no_budget(catalog, unknown, left):
    """Of 100 five may be: with one more, nobody knows what is left."""
    total = 100 - unknown

    assert _left(catalog, ("M1", "critical", 1, total * 0.95, total, unknown)) == left


def test_hours_of_a_month_ago_count_no_more(catalog):
    """All was bad then."""
    before, then = 30 * 24 + 1, 30 * 24
    left = _left(
        catalog, ("M1", "critical", before, 0, 100, 0), ("M1", "critical", then, 100, 100, 0)
    )

    assert left == {("M1", "critical"): 1.0}


@pytest.mark.parametrize(
    "hour",
    [
        ("M2", "critical", 1, 1, 1, 0),
        ("M10", "all", 1, 1, 1, 0),
        ("M1", "critical", 1, 0, 0, 0),
    ],
)
def test_there_is_no_budget_without_something_to_spend(catalog, hour):
    """No objective; one that lets nothing be bad; no sample."""
    assert _left(catalog, hour) == {}


def test_a_period_with_less_than_half_of_its_data_is_too_early_to_judge(catalog):
    """Say that three bad hours are no month, and not 1,000 % overdrawn."""
    young = ("M1", "critical", 1, 0, 100, 0)

    assert _left(catalog, young, days=3 / 24) == {("M1", "critical"): "too early: 3 h of 30 d"}
