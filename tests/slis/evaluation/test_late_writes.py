"""Amended hours: each late write counts once, in the evaluation that counts its batch."""

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.policy import Policy
from lineage.policy.model import DatasetRule
from lineage.process.clock import from_micros, to_micros
from slis.evaluation.dataset_policies import renew_policies
from slis.evaluation.input import EvaluationRange
from slis.evaluation.late_writes import amend
from tests.slis.catalog_rows import CatalogRows
from tests.slis.sli_frames import day

pytestmark = pytest.mark.postgres_nightly("amended by the SQL of test_evaluation.py")
POLICY = Policy(datasets=(DatasetRule("shop/core.orders", tier="critical", limit="2h"),))
HALF_OF_10_TO_HALF_OF_12 = {10: 1_800, 11: 3_600, 12: 1_800}


@pytest.fixture
def rows(catalog):
    """Return a dataset that was last known to be written at 5:00, and judged at 13:00."""
    rows = CatalogRows(catalog, day(0))
    rows.core = rows.dataset("core.orders")
    rows.written(rows.core, day(1, 5))
    rows.batch(day(1, 5))
    renew_policies(catalog, POLICY)
    return rows


def _amended(spark, rows, minute, after, last):
    """Return good seconds by hour that the evaluation at 13:00 and `minute` adds."""
    at = EvaluationRange(day(1, 13, minute), day(1, 13, minute - 1), after, last)
    found = amend(spark, rows.engine, at, POLICY)
    goods = {
        from_micros(at).hour: good for (sli, _, at), (good, *_) in found.items() if sli == "M2"
    }
    return {hour: good for hour, good in goods.items() if good}


def _change(rows, when, **values):  # noqa: ANN003 - columns of any type
    table = tables.dataset_write
    change = table.update().where(table.c.written_at == to_micros(when)).values(**values)
    with write_transaction(rows.engine) as connection:
        connection.execute(change)


def test_a_write_that_lands_while_an_evaluation_runs_counts_in_the_next_one(spark, rows):
    """Amend 4:30 by the first evaluation, and the hours after 10:30 by the second one alone."""
    rows.written(rows.core, day(1, 4, 30), landed=day(1, 13, 0.5))
    rows.batch(day(1, 13, 0.5))
    rows.written(rows.core, day(1, 10, 30), landed=day(1, 13, 1.5))
    rows.batch(day(1, 13, 1.5))

    assert _amended(spark, rows, 1, after=1, last=2) == {4: 1_800}
    assert _amended(spark, rows, 2, after=2, last=3) == HALF_OF_10_TO_HALF_OF_12
    assert _amended(spark, rows, 3, after=3, last=3) == {}


def test_a_merge_that_began_before_an_evaluation_and_ended_after_it_counts_in_the_next(spark, rows):
    """Amend at 13:02 what a merge wrote at 13:00:30 and committed after 13:01."""
    assert _amended(spark, rows, 1, after=1, last=1) == {}
    rows.written(rows.core, day(1, 10, 30), landed=day(1, 13, 0.5))
    rows.batch(day(1, 13, 1.5))

    assert _amended(spark, rows, 2, after=1, last=2) == HALF_OF_10_TO_HALF_OF_12


def test_a_late_backfill_makes_no_hour_good(spark, rows):
    """Count a late write of 4:30, and of 10:30 no reload of the day before yesterday."""
    hourly = {"cadence_class": "periodic", "cadence_seconds": 3_600.0, "gaps": 9}
    limit = {"dataset_key": rows.core, "explanation": "", "learned_at": 0, **hourly}
    with write_transaction(rows.engine) as connection:
        connection.execute(insert(tables.dataset_limit), limit)
    late = {"landed": day(1, 13, 0.5)}
    for when, meant_for in ((day(1, 4, 30), day(1, 4)), (day(1, 10, 30), day(0))):
        rows.written(rows.core, when, **late)
        _change(rows, when, nominal_start_at=to_micros(meant_for))
    rows.batch(day(1, 13, 0.5))

    assert _amended(spark, rows, 1, after=1, last=2) == {4: 1_800}


@pytest.mark.parametrize("catalogs", ["sqlite"], indirect=True)
def test_hours_that_a_gap_excused_are_good_and_unknown_no_more(spark, rows):
    """Take unknown seconds away: the collector was silent as the dataset became overdue."""
    gap = {"started_at": to_micros(day(1, 6)), "ended_at": to_micros(day(1, 11))}
    with write_transaction(rows.engine) as connection:
        connection.execute(insert(tables.ingestion_gap), gap)
    rows.written(rows.core, day(1, 10, 30), landed=day(1, 13, 0.5))
    rows.batch(day(1, 13, 0.5))

    found = amend(spark, rows.engine, EvaluationRange(day(1, 13, 1), day(1, 13), 1, 2), POLICY)

    hours = {hour: amounts for (sli, _, hour), amounts in found.items() if sli == "M2"}
    unknown = {from_micros(at).hour: lost for at, (_, _, lost) in hours.items() if lost}
    assert unknown == {hour: -good for hour, good in HALF_OF_10_TO_HALF_OF_12.items()}


@pytest.mark.parametrize("catalogs", ["sqlite"], indirect=True)
def test_a_stream_is_good_while_its_late_input_has_nothing_newer(spark, rows):
    """Amend the hours after 12:30 too, although the limit of two hours is over."""
    raw, late = rows.dataset("raw"), {"landed": day(1, 13, 0.5)}
    rows.edge(raw, rows.core, day(1))
    rows.written(raw, day(1, 10), **late)
    rows.written(rows.core, day(1, 10, 30), is_streaming=True, **late)
    rows.batch(day(1, 13, 0.5))
    renew_policies(rows.engine, POLICY)

    assert _amended(spark, rows, 1, after=1, last=2) == {10: 1_800, 11: 3_600, 12: 3_600}


def test_a_late_history_load_makes_no_hour_good(spark, rows):
    """Know of the load before and after, so that it makes no difference."""
    late = {"landed": day(1, 13, 0.5)}
    rows.written(rows.core, day(1, 4, 30), **late)
    rows.written(rows.core, day(1, 10, 30), **late)
    _change(rows, day(1, 10, 30), is_history=True)
    rows.batch(day(1, 13, 0.5))

    assert _amended(spark, rows, 1, after=1, last=2) == {4: 1_800}
