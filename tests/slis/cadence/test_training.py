"""Training gaps, and the hours that count."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lineage.process.clock import from_micros, to_micros
from slis.cadence.training import outage_gaps, since_change, training_gaps, without_misses
from slis.cadence.working_week import (
    instant_micros,
    wall_at,
    wall_seconds,
    working_hours,
    working_seconds,
)

DAY = 86_400.0
MONDAY = datetime(2026, 9, 7, 2, tzinfo=UTC)


def _wall(*times, zone="UTC"):  # noqa: ANN002
    return wall_seconds(np.array([to_micros(time) for time in times]), zone)


def _weekdays(start, weeks):
    days = [start + timedelta(days=number) for number in range(7 * weeks)]
    return [time for time in days if time.weekday() < 5]


def test_a_weekend_does_not_count_for_a_weekday_job():
    """Count Friday to Monday as one working day; move a deadline on Saturday to Monday."""
    times = _weekdays(MONDAY, 5)
    wall = _wall(*times)

    hours = working_hours(wall)

    assert set(np.diff(working_seconds(wall, hours))) == {DAY}
    friday = working_seconds(wall[-1:], hours)[0]
    due = wall_at(friday + 26 * 3_600, hours)
    assert from_micros(instant_micros(due, "UTC")[0]) == times[-1] + timedelta(days=3, hours=2)


def test_one_sunday_run_does_not_make_sundays_working_days():
    """Ignore an hour of the week that was used once."""
    wall = _wall(*sorted([*_weekdays(MONDAY, 5), MONDAY + timedelta(days=13)]))

    assert not working_hours(wall)[6 * 24 : 6 * 24 + 24].any()


def test_a_daily_jobs_gap_is_a_day_in_the_weeks_in_which_the_clocks_change():
    """Count 02:30 to 02:30 in Berlin as one day at both clock changes of 2026: 23 and 25 hours."""
    zone = ZoneInfo("Europe/Berlin")
    for month in (3, 10):
        times = [datetime(2026, month, day, 4, 30, tzinfo=zone) for day in range(20, 31)]
        hours_apart = {(b - a) for a, b in zip(_utc(times), _utc(times)[1:], strict=False)}

        assert len(hours_apart) == 2
        assert set(np.diff(_wall(*times, zone="Europe/Berlin"))) == {DAY}


def _utc(times):
    return [time.astimezone(UTC) for time in times]


def test_a_deadline_in_an_hour_that_comes_twice_is_in_its_second():
    """Place 02:30 on 25 October at 01:30 UTC, not at 00:30: nothing is late an hour early."""
    times = [datetime(2026, 10, day, 2, 30, tzinfo=ZoneInfo("Europe/Berlin")) for day in (23, 24)]
    due = wall_at(_wall(times[1], zone="Europe/Berlin")[0] + DAY, np.ones(168, dtype=np.bool_))

    micros = instant_micros(due, "Europe/Berlin")

    assert from_micros(micros[0]) == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)


@given(
    st.lists(st.booleans(), min_size=168, max_size=168).filter(any),
    st.floats(min_value=2e9, max_value=3e9),
)
def test_working_time_reverses(hours, wall):
    """Return a wall time in a working hour as it was, and one in a pause as the pause's end."""
    mask = np.array(hours)
    working = working_seconds(np.array([wall]), mask)

    back = wall_at(working[0], mask)

    assert abs(working_seconds(np.array([back]), mask)[0] - working[0]) < 1e-3
    assert back >= wall - 1e-3


def test_a_missed_cycle_does_not_train():
    """Leave out one gap of two days among daily ones, and also two of them."""
    gaps = np.array([DAY] * 9 + [2 * DAY, DAY, 2 * DAY, 2 * DAY, DAY])

    assert gaps[training_gaps(gaps)].tolist() == [DAY] * 11


def test_three_misses_in_a_row_that_agree_are_the_new_cadence():
    """Train with the three gaps alone: the old cadence is over."""
    gaps = np.array([DAY] * 9 + [2 * DAY] * 5)

    assert gaps[without_misses(gaps)].tolist() == [2 * DAY] * 5
    apart = np.array([DAY] * 9 + [2 * DAY, 5 * DAY, 9 * DAY])
    assert without_misses(apart).tolist() == [*range(9)]


def test_an_outage_among_the_first_of_a_new_cadence_does_not_hide_it():
    """Find three gaps that agree among the last four outliers."""
    gaps = np.array([DAY] * 9 + [2 * DAY, 2 * DAY, 9 * DAY, 2 * DAY, 2 * DAY])

    assert without_misses(gaps).tolist() == [9, 10, 11, 12, 13]


def test_a_gap_with_a_failed_run_trains_only_where_failures_are_usual():
    """Train with a gap of usual length despite a failure, and with all gaps where all runs fail."""
    gaps = np.array([DAY] * 9 + [3 * DAY, 3 * DAY, DAY, 3 * DAY])
    failed = np.array([False] * 9 + [True, True, True, False])

    assert outage_gaps(gaps, failed).nonzero()[0].tolist() == [9, 10]
    assert not outage_gaps(gaps, np.full(gaps.size, fill_value=True)).any()
    slow = np.concatenate([np.full(9, DAY), np.full(70, 3 * DAY)])
    assert outage_gaps(slow, slow > DAY).nonzero()[0].tolist() == [*range(9, 66)]


def test_a_change_of_cadence_cuts_the_window():
    """Drop the gaps before a change from daily to hourly; keep all of steady gaps."""
    steady = DAY * (1 + 0.05 * np.sin(np.arange(60)))
    changed = np.concatenate([steady[:20], np.full(10, 3_600.0)])

    assert since_change(steady) == 0
    assert since_change(changed) == 20
