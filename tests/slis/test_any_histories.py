"""Datasets with arbitrary histories: each gets a limit or a reason, and none stops the others."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

from lineage.catalog import tables
from lineage.policy import Policy
from lineage.policy.model import Calendar, DatasetRule
from slis.cadence import cadence, cadence_limits, learning
from slis.cadence.working_time import WorkingTime
from slis.evaluation.evaluation import evaluate
from tests.slis.catalog_rows import CatalogRows
from tests.slis.single_slis import learned_limits
from tests.slis.sli_frames import day, gaps, writes

_MINUTE, _DAY = 60.0, 86_400.0
_GAPS = st.one_of(
    st.sampled_from([_MINUTE, 300.0, 3_600.0, 12 * 3_600.0, _DAY, 7 * _DAY]),
    st.floats(1e-6, 40 * _DAY),
)
# Repeated gaps with some others among them: schedules, bursts and single writes.
_HISTORIES = st.lists(st.tuples(_GAPS, st.integers(1, 12), st.booleans()), min_size=1, max_size=5)


def _history(key, gaps):
    """Return writes at the ends of these gaps, the last one at day 0."""
    each = [(gap, is_streaming) for gap, times, is_streaming in gaps for _ in range(times)]
    before, rows = 0.0, []
    for gap, is_streaming in reversed(each):
        at = day(0) - timedelta(seconds=before)
        rows.append({"dataset_key": key, "written_at": at, "is_streaming": is_streaming})
        before += gap
    return rows


def _switch(key, old, new, count=4):
    """Return a job that has just moved to another cadence: a schedule without scores."""
    return _history(key, [(old, 20, False), (new, count, False)])


@pytest.mark.parametrize(
    ("old", "new"),
    [(_DAY, 7 * _DAY), (3_600.0, _DAY), (300.0, 3_600.0), (12 * 3_600.0, 48 * 3_600.0)],
)
def test_a_first_schedule_of_an_estate_gets_a_limit_without_a_pool(spark, old, new):
    """Learn without a pool: no other dataset of the class has a score, so each row has null."""
    frame = writes(spark, *_switch(1, old, new))

    [row] = learned_limits(frame, gaps(spark), as_of=day(0, 1)).collect()

    assert (row.cadence_class, row.gaps) == ("periodic", 8)
    assert row.limit_seconds >= new
    assert row.explanation.endswith(
        "from 0 gaps of all periodic datasets; it is at least 13 % of a cadence beyond the latest"
        " write"
    )


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(_HISTORIES, min_size=1, max_size=25))
def test_any_estate_gets_limits_without_an_error(spark, estate):
    """Give each dataset a limit above zero or `learning`; own code fails on none."""
    rows = [row for key, gaps in enumerate(estate) for row in _history(key, gaps)]

    limits = learned_limits(writes(spark, *rows), gaps(spark), as_of=day(0, 1)).collect()

    assert {row.dataset_key for row in limits} == set(range(len(estate)))
    for row in limits:
        assert row.cadence_class != "failed", row.explanation
        is_learned = row.limit_seconds is not None and row.limit_seconds > 0
        assert is_learned or row.explanation.startswith("learning: "), row


@pytest.mark.parametrize(
    "column", ["usual_gap", "largest", "limit", "hours", "phase", "newest_micros"]
)
def test_a_profile_without_a_figure_fails_alone(spark, column):
    """Set limits for the other datasets of the batch, whichever figure is null in one row."""
    frame = writes(spark, *_switch(1, _DAY, 7 * _DAY), *_switch(2, 3_600.0, _DAY))
    times = {None: WorkingTime()}
    profiles = cadence.profiles(frame, gaps(spark), instants=[day(0, 1)], times=times)
    tailed = cadence_limits.with_tails(profiles, cadence_limits.pools(profiles))
    broken = F.when(F.col("dataset_key") == 2, F.col(column))

    rows = cadence_limits.limits(tailed.withColumn(column, broken), times).collect()

    found = {row.dataset_key: row for row in rows}
    assert found[2].limit_seconds is not None
    assert (found[1].cadence_class, found[1].limit_seconds) == ("failed", None)
    assert found[1].explanation.startswith("the limit could not be learned: ")


@pytest.mark.postgres_nightly(but="clock1-TypeError")
@pytest.mark.parametrize(
    ("clock", "error"),
    [
        (WorkingTime("Nowhere/Secret"), "UnknownTimeZoneError"),
        (WorkingTime(windows=((1, None),)), "TypeError"),
        (WorkingTime(holidays=("secret",)), "TypeError"),
    ],
)
def test_a_dataset_that_fails_is_unknown_and_the_others_are_evaluated(
    spark, catalog, monkeypatch, clock, error
):
    """Report the error, with its line, as the state of that dataset."""
    rows = CatalogRows(catalog, day(-40))
    broken, well = rows.dataset("mart.broken"), rows.dataset("mart.well")
    for number in range(30):
        rows.written(well, day(number - 29, -1))
        rows.written(broken, day(number - 29, -1, 1))
    germany = Calendar("germany", days_off=("sun",))
    rule = DatasetRule("shop/mart.broken", calendar="germany")
    monkeypatch.setattr(learning, "working_time", lambda _, plan: clock if plan else WorkingTime())

    evaluate(spark, catalog, Policy(calendars=(germany,), datasets=(rule,)), day(0))

    limits = {row["dataset_key"]: row for row in rows.rows(tables.dataset_limit)}
    states = {
        row["dataset_key"]: row for row in rows.rows(tables.dataset_state) if row["sli"] == "M2"
    }
    assert states[well]["state"] == "good"
    assert (states[broken]["state"], states[broken]["reason"]) == ("unknown", "limit_failed")
    gaps = limits[broken]["explanation"]
    assert gaps.startswith(f"the limit could not be learned: {error} in ")
    assert "secret" not in gaps.lower()
