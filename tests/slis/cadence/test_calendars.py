"""Calendars and suppressions of the policy, from the file to the state of a dataset."""

import pytest

from lineage.catalog import tables
from lineage.policy import parse_policy
from slis.evaluation.evaluation import evaluate
from tests.slis.catalog_rows import CatalogRows
from tests.slis.sli_frames import day

RULES = """
datasets:
  - {match: shop/core.*, calendar: ours}
calendars:
  - {name: ours, time_zone: Europe/Berlin, days_off: [sat, sun], holidays: [2026-11-30]}
"""
# 1 November 2026 was a Sunday.
WEEKDAYS = [number for number in range(-4, 27) if (number + 6) % 7 < 5]


def _state(rows, at):
    states = rows.rows(tables.dataset_state)
    [row] = [row for row in states if row["sli"] == "M2" and row["dataset_key"] == at]
    return row["state"]


@pytest.mark.postgres_nightly
def test_a_weekday_job_is_late_neither_on_sunday_nor_on_a_holiday(spark, catalog):
    """Apply a changed calendar to learned limits at once: after Friday, Tuesday is due."""
    rows = CatalogRows(catalog, day(0))
    core = rows.dataset("core.orders")
    for number in WEEKDAYS:
        rows.written(core, day(number, 2))

    def state(policy, number, hour=12.0):
        evaluate(spark, catalog, parse_policy(policy), day(number, hour))
        return _state(rows, core)

    assert day(26).strftime("%a") == "Fri"
    assert state(RULES, 28) == "good"
    assert state(RULES, 29) == "good"
    assert state("{}", 29, 12.1) == "bad"
    assert state(RULES, 29, 12.2) == "good"
    assert state(RULES, 30) == "bad"


@pytest.mark.postgres_nightly
def test_a_planned_window_counts_no_time_and_its_writes_refresh_nothing(spark, catalog):
    """Expect a write with a limit of 2 h at 11:00; with a window from 10:00 to 16:00 at 17:00."""
    policy = parse_policy("""
datasets:
  - {match: shop/core.*, limit: 2h}
suppressions:
  - {name: reload, match: shop/core.*, from: 2026-11-02T10:00:00Z, until: 2026-11-02T16:00:00Z}
""")
    rows = CatalogRows(catalog, day(0))
    core, mart = rows.dataset("core.orders"), rows.dataset("mart.daily")
    rows.written(core, day(1, 9))
    rows.written(mart, day(1, 9))

    def state(hour):
        evaluate(spark, catalog, policy, day(1, hour))
        return _state(rows, core), _state(rows, mart)

    assert state(12) == ("good", "learning")
    assert state(16.9) == ("good", "learning")
    assert state(17.1) == ("bad", "learning")
