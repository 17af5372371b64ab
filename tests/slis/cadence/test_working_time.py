"""Working time: calendars, holidays, planned windows, and weeks of clock changes."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lineage.policy import decide_policy, parse_policy, suppressions_of
from lineage.process.clock import to_micros
from slis.cadence.working_time import WorkingTime, off_spans, plan_of, working_time
from slis.cadence.working_week import wall_at, wall_seconds, working_seconds

DAY = 86_400.0
BERLIN = ZoneInfo("Europe/Berlin")
GERMANY = WorkingTime("Europe/Berlin", frozenset({5, 6}), (date(2026, 12, 25),))
POLICY = """
calendars:
  - name: germany
    time_zone: Europe/Berlin
    days_off: [sat, sun]
    holidays: [2026-12-25]
datasets:
  - {match: shop/*, calendar: germany}
suppressions:
  - {name: reload, match: shop/core.*, from: 2026-11-21T08:00:00+01:00,
     until: 2026-11-21T20:00:00+01:00}
"""


def _working(time, *instants):  # noqa: ANN002
    wall = wall_seconds(np.array([to_micros(one) for one in instants]), time.time_zone)
    return time.working(wall, time.hours(wall))


def test_a_holiday_and_a_weekend_do_not_count():
    """Count Thursday 24 December 02:00 to Monday 28 December 02:00 as one working day."""
    thursday, monday = (datetime(2026, 12, day, 2, tzinfo=BERLIN) for day in (24, 28))

    assert np.diff(_working(GERMANY, thursday, monday)).tolist() == [DAY]


def test_a_deadline_on_a_day_off_is_the_next_working_days_at_the_same_time():
    """Move a deadline on Saturday, 24 October, 04:30, to Monday, 04:30, after the clock change."""
    friday = datetime(2026, 10, 23, 2, 30, tzinfo=BERLIN)
    at = np.array([to_micros(friday)])
    hours = GERMANY.hours(wall_seconds(at, "Europe/Berlin"))

    due = GERMANY.due(at, _working(GERMANY, friday) + 26 * 3_600, hours, usual_gap=DAY)

    assert due.tolist() == [to_micros(datetime(2026, 10, 26, 4, 30, tzinfo=BERLIN))]


def test_an_hourly_job_is_due_by_the_hour_when_the_clocks_go_forward():
    """Expect a write of 01:10 with a limit of 65 minutes by 03:15, which is 65 minutes later."""
    written = datetime(2027, 3, 28, 1, 10, tzinfo=BERLIN)
    time = WorkingTime("Europe/Berlin")
    at = np.array([to_micros(written)])
    hours = time.hours(wall_seconds(at, "Europe/Berlin"))

    due = time.due(at, _working(time, written) + 65 * 60, hours, usual_gap=3_600.0)

    assert due.tolist() == [to_micros(datetime(2027, 3, 28, 3, 15, tzinfo=BERLIN))]


def test_a_plan_names_a_calendar_and_its_windows_and_changes_with_them():
    """Return the rules of a dataset from the plan's name; give another holiday another name."""
    policy = parse_policy(POLICY)
    decision = decide_policy(policy, "shop", "core.orders")
    windows = [one.name for one in suppressions_of(policy, "shop", "core.orders")]

    plan = plan_of(policy, decision.calendar, windows)

    start = datetime(2026, 11, 21, 7, tzinfo=UTC)
    window = (to_micros(start), to_micros(start + timedelta(hours=12)))
    assert working_time(policy, plan) == WorkingTime(
        "Europe/Berlin", frozenset({5, 6}), (date(2026, 12, 25),), (window,)
    )
    other = parse_policy(POLICY.replace("2026-12-25", "2026-12-26"))
    assert plan_of(other, "germany", windows) != plan
    assert plan_of(policy, None, []) is None
    assert working_time(policy, None) == WorkingTime("UTC")


def test_two_windows_at_once_are_one():
    """Count the overlap of both windows once."""
    more = "  - {name: move, match: shop/core.orders, from: 2026-11-21T14:00:00+01:00,\n"
    policy = parse_policy(POLICY + more + "     until: 2026-11-21T22:00:00+01:00}\n")
    windows = [one.name for one in suppressions_of(policy, "shop", "core.orders")]

    time = working_time(policy, plan_of(policy, None, windows))

    start = to_micros(datetime(2026, 11, 21, 7, tzinfo=UTC))
    assert time.windows == ((start, start + 14 * 3_600_000_000),)
    due = time.after_windows(np.array([start]), np.array([start + 1]))
    assert due.tolist() == [start + 14 * 3_600_000_000 + 1]


def test_time_off_is_returned_as_joined_times():
    """Join a holiday and the weekend after it to one pause of three days, in calendar time."""
    first, last = datetime(2026, 12, 23, tzinfo=UTC), datetime(2026, 12, 29, tzinfo=UTC)

    spans = off_spans(GERMANY, first, last)

    start, end = (datetime(2026, 12, day, tzinfo=BERLIN) for day in (25, 28))
    assert [(a.astimezone(UTC), b.astimezone(UTC)) for a, b in spans] == [
        (start.astimezone(UTC), end.astimezone(UTC))
    ]


def test_a_time_in_a_planned_window_counts_at_its_end():
    """Move a time in two successive windows too; leave one outside a window alone."""
    hour = 3_600_000_000
    time = WorkingTime(windows=((10 * hour, 14 * hour), (14 * hour, 16 * hour)))
    instants = np.array([9, 10, 13, 15, 16]) * hour

    assert time.in_window(instants).tolist() == [False, True, True, True, False]
    assert (time.out_of_windows(instants) // hour).tolist() == [9, 16, 16, 16, 16]
    assert time.spans_window(instants).tolist() == [False, False, True, True, True]
    since, due = np.array([8, 8, 13, 16]) * hour, np.array([9, 11, 15, 18]) * hour
    assert (time.after_windows(since, due) // hour).tolist() == [9, 17, 18, 18]


@given(st.floats(min_value=2e9, max_value=2.01e9), st.lists(st.integers(0, 60), max_size=4))
def test_working_time_with_pauses_reverses(wall, days):
    """Return a wall time outside pauses as it was, and one inside as the pause's end."""
    hours = np.ones(168, dtype=np.bool_)
    hours[120:] = False
    begins = 2e9 + 3 * DAY * np.array(sorted(set(days)), dtype=np.float64)
    pauses = np.stack([begins, begins + DAY], axis=1)
    working = working_seconds(np.array([wall]), hours, pauses)

    back = wall_at(working, hours, pauses)

    assert abs(working_seconds(back, hours, pauses)[0] - working[0]) < 1e-3
    assert back[0] >= wall - 1e-3
