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


def test_a_first_schedule_of_an_estate_gets_a_limit_without_a_pool(spark):
    """Learn without a pool: no dataset of the class has a score, so each row has null."""
    hour = 3_600.0
    moves = [(_DAY, 7 * _DAY), (hour, _DAY), (300.0, hour), (12 * hour, 48 * hour)]
    frame = writes(spark, *(row for key, move in enumerate(moves) for row in _switch(key, *move)))

    rows = learned_limits(frame, gaps(spark), as_of=day(0, 1)).collect()

    assert {row.dataset_key for row in rows} == set(range(len(moves)))
    for row in rows:
        assert (row.cadence_class, row.gaps) == ("periodic", 8)
        assert row.limit_seconds >= moves[row.dataset_key][1]
        assert row.explanation.endswith(
            "from 0 gaps of all periodic datasets; it is at least 13 % of a cadence beyond the"
            " latest write"
        )


_SHORT = "tests/slis/test_any_histories.py::test_any_estate_gets_limits_without_an_error"
_QUIET = [HealthCheck.function_scoped_fixture]


@settings(max_examples=2, deadline=None, suppress_health_check=_QUIET)
@given(st.lists(_HISTORIES, min_size=25, max_size=40))
def test_any_estate_gets_limits_without_an_error(spark, estate):
    """Give each dataset a limit above zero or `learning`; own code fails on none."""
    _check_limits(spark, estate)


@pytest.mark.nightly(short=_SHORT)
@settings(max_examples=50, deadline=None, suppress_health_check=_QUIET)
@given(st.lists(_HISTORIES, min_size=1, max_size=25))
def test_many_estates_get_limits_without_an_error(spark, estate):
    """Give them in 50 estates, some of one dataset."""
    _check_limits(spark, estate)


def _check_limits(spark, estate):
    rows = [row for key, gaps in enumerate(estate) for row in _history(key, gaps)]

    limits = learned_limits(writes(spark, *rows), gaps(spark), as_of=day(0, 1)).collect()

    assert {row.dataset_key for row in limits} == set(range(len(estate)))
    for row in limits:
        assert row.cadence_class != "failed", row.explanation
        is_learned = row.limit_seconds is not None and row.limit_seconds > 0
        assert is_learned or row.explanation.startswith("learning: "), row


def test_a_profile_without_a_figure_fails_alone(spark):
    """Set a limit for the other dataset of the batch, whichever figure is null in a row."""
    columns = ("usual_gap", "largest", "limit", "hours", "phase", "newest_micros")
    keys = range(len(columns) + 1)
    frame = writes(spark, *(row for key in keys for row in _switch(key, _DAY, 7 * _DAY)))
    times = {None: WorkingTime()}
    profiles = cadence.profiles(frame, gaps(spark), instants=[day(0, 1)], times=times)
    tailed = cadence_limits.with_tails(profiles, cadence_limits.pools(profiles))
    is_own = {name: F.col("dataset_key") == key for key, name in enumerate(columns)}
    broken = {name: F.when(~is_own[name], F.col(name)) for name in columns}

    rows = cadence_limits.limits(tailed.withColumns(broken), times).collect()

    found = {row.dataset_key: row for row in rows}
    assert found.keys() == set(keys)
    assert found.pop(len(columns)).limit_seconds is not None
    for row in found.values():
        assert (row.cadence_class, row.limit_seconds) == ("failed", None)
        assert row.explanation.startswith("the limit could not be learned: ")


_BROKEN = {
    "UnknownTimeZoneError": WorkingTime("Nowhere/Secret"),
    "TypeError: windows": WorkingTime(windows=((1, None),)),
    "TypeError: holidays": WorkingTime(holidays=("secret",)),
}


def test_a_dataset_that_fails_is_unknown_and_the_others_are_evaluated(spark, catalog, monkeypatch):
    """Report the error, with its line, as the state of that dataset."""
    rows = CatalogRows(catalog, day(-40))
    well = rows.dataset("mart.well")
    broken = {rows.dataset(f"mart.broken{number}"): n for number, n in enumerate(_BROKEN)}
    for number in range(30):
        rows.written(well, day(number - 29, -1))
        for place, key in enumerate(broken):
            rows.written(key, day(number - 29, -1, 1 + place))
    calendars = [Calendar(f"calendar{number}", days_off=("sun",)) for number in range(3)]
    rules = [DatasetRule(f"shop/mart.broken{n}", calendar=f"calendar{n}") for n in range(3)]
    clocks = {
        calendar.name: clock for calendar, clock in zip(calendars, _BROKEN.values(), strict=True)
    }

    def working_time(_, plan):
        return next((clocks[name] for name in clocks if name in (plan or "")), WorkingTime())

    monkeypatch.setattr(learning, "working_time", working_time)

    evaluate(spark, catalog, Policy(calendars=tuple(calendars), datasets=tuple(rules)), day(0))

    limits = {row["dataset_key"]: row for row in rows.rows(tables.dataset_limit)}
    states = {
        row["dataset_key"]: row for row in rows.rows(tables.dataset_state) if row["sli"] == "M2"
    }
    assert states[well]["state"] == "good"
    for key, error in broken.items():
        assert (states[key]["state"], states[key]["reason"]) == ("unknown", "limit_failed")
        explanation = limits[key]["explanation"]
        name = error.partition(":")[0]
        assert explanation.startswith(f"the limit could not be learned: {name} in ")
        assert "secret" not in explanation.lower()
