"""Error budgets that are left, and budgets that are unknown."""

from datetime import timedelta

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import open_reader
from service.explorer.formatting import budget_text
from service.queries.slis import BudgetLeft, budgets_left
from tests.service import shop

pytestmark = pytest.mark.postgres_nightly

NOW = shop.DAY + timedelta(hours=3)
_OBJECTIVES = {("M1", "critical"): 0.9, ("M7", "all"): 0.9, ("M10", "all"): 1.0}


def _budgets(catalog, *hours: tuple[str, str, float, float, float, float], days: float = 15):
    """Return the budgets left by these hours (SLI, tier, hours ago, good, total, unknown).

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
    return {name: _budget_value(left) for name, left in found.items()}


def _budget_value(left: BudgetLeft) -> float | str:
    return budget_text(left) if left.ratio is None else round(left.ratio, 6)


def test_bad_time_is_subtracted_from_the_budget(catalog):
    """Return a half for 5 bad of 100 where ten may be bad, and -1 for 20."""
    left = _budgets(catalog, ("M1", "critical", 1, 95, 100, 0), ("M7", "all", 1, 80, 100, 0))

    assert left == {("M1", "critical"): 0.5, ("M7", "all"): -1.0}


@pytest.mark.parametrize(("unknown", "left"), [(5, {("M1", "critical"): 0.5}), (6, {})])
def test_a_budget_is_unknown_above_a_twentieth_unknown(catalog, unknown, left):
    """Return no budget if more than five of 100 are unknown."""
    total = 100 - unknown

    assert _budgets(catalog, ("M1", "critical", 1, total * 0.95, total, unknown)) == left


def test_hours_of_a_month_ago_count_no_more(catalog):
    """Ignore hours that are more than 30 days old and were all bad."""
    before, then = 30 * 24 + 1, 30 * 24
    left = _budgets(
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
def test_no_objective_or_no_sample_is_no_budget(catalog, hour):
    """Return none without an objective, for an objective of 1, and without a sample."""
    assert _budgets(catalog, hour) == {}


def test_a_period_with_less_than_half_of_its_data_is_too_early_to_judge(catalog):
    """Say that three bad hours are no month, and not 1,000 % overdrawn."""
    young = ("M1", "critical", 1, 0, 100, 0)

    assert _budgets(catalog, young, days=3 / 24) == {("M1", "critical"): "needs 15 d of data"}
