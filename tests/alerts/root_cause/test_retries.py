"""Failures that notify at once, and failures that wait for a retry."""

import pytest

from alerts.root_cause.retries import RunAttempt, UsualFigures, find_retry_wait
from lineage.process.clock import SECOND_MICROS

MINUTE = 60
DAILY = UsualFigures(cadence_seconds=86_400, duration_seconds=600)


def attempt(began, *, failed=None, completed=None, day=None, left=None):
    """Return a run; minutes, and the day of its nominal time."""
    began_at, failed_at, completed_at = (
        None if at is None else at * MINUTE * SECOND_MICROS for at in (began, failed, completed)
    )
    return RunAttempt(
        began_at=began_at,
        failed_at=failed_at,
        completed_at=completed_at,
        nominal_at=day,
        retries_left=left,
    )


def held(*attempts, usual=DAILY):  # noqa: ANN002
    """Return until which minute nobody is notified; 0: notify now."""
    return find_retry_wait(attempts, usual).until / MINUTE / SECOND_MICROS


def retried(days, gap=5):
    """Return runs that fail each day after ten minutes, and whose retry completes."""
    for day in range(days):
        start = day * 1440
        yield attempt(start, failed=start + 10, day=day)
        yield attempt(start + 10 + gap, completed=start + 20 + gap, day=day)


FAILED = attempt(14_400, failed=14_410, day=10)


def test_a_failure_without_a_history_notifies_at_once():
    """Notify at once: no retry is announced, and none was seen before."""
    assert held(FAILED) == 0


@pytest.mark.parametrize(("left", "until"), [(1, 14_425), (0, 0), (None, 0)])
def test_an_announced_retry_is_awaited(left, until):
    """Wait a quarter of an hour, unless its usual wait is known (Airflow: 5 minutes)."""
    assert held(attempt(14_400, failed=14_410, left=left)) == until


def test_an_announced_retry_is_overdue_after_twice_its_usual_wait():
    """Show a delay of 30 minutes the day before."""
    before = (
        attempt(0, failed=10, day=0, left=1),
        attempt(40, completed=50, day=0, left=0),
    )
    assert held(*before, attempt(1440, failed=1450, day=1, left=1)) == 1450 + 60


@pytest.mark.parametrize(
    ("days", "usual", "wait"),
    [
        ((0, 1, 2), DAILY, 15),
        ((None, None, None), DAILY, 360),
        ((None, None, None), UsualFigures(), 1440),
    ],
    ids=["nominal", "cadence", "neither"],
)
def test_the_next_day_s_run_is_no_announced_retry(days, usual, wait):
    """Announce a retry that never runs. By the next day's run, the wait was 47 hours."""
    before = (
        attempt(0, failed=10, day=days[0], left=1),
        attempt(1440, completed=1450, day=days[1]),
    )
    failed = attempt(2880, failed=2890, day=days[2], left=1)
    assert held(*before, failed, usual=usual) == 2890 + wait


@pytest.mark.parametrize(("days", "until"), [(2, 0), (3, 14_420), (8, 14_420)])
def test_a_retry_that_usually_follows_is_awaited(days, until):
    """Wait from the third on, for twice the longest wait that was seen."""
    assert held(*retried(days), FAILED) == until


def test_failures_that_were_mostly_not_retried_notify():
    """Call a retry usual after four of five failures; here it came after three of five."""
    alone = [attempt(day * 1440, failed=day * 1440 + 10, day=day) for day in (3, 4)]
    assert held(*retried(3), *alone, FAILED) == 0


def test_the_next_night_is_no_retry():
    """Follow each failure by the next day's run alone, which completes."""
    nights = [
        each
        for day in range(0, 8, 2)
        for each in (
            attempt(day * 1440, failed=day * 1440 + 10, day=day),
            attempt((day + 1) * 1440, completed=(day + 1) * 1440 + 10, day=day + 1),
        )
    ]
    assert held(*nights, FAILED) == 0


def test_the_next_run_of_a_job_of_each_five_minutes_is_no_retry():
    """Count only a run well within the cadence as a retry, without a nominal time."""
    runs = [
        each
        for at in range(0, 100, 10)
        for each in (attempt(at, failed=at + 1), attempt(at + 5, completed=at + 6))
    ]
    assert held(*runs, attempt(100, failed=101), usual=UsualFigures(300, 60)) == 0


def test_a_retry_that_failed_notifies():
    """Let its usual retry come, and fail as well."""
    again = attempt(14_415, failed=14_420, day=10)
    assert held(*retried(5), FAILED, again) == 0
    assert held(*retried(5), FAILED, attempt(14_415, failed=14_420, day=10, left=1)) > 0


def test_a_retry_under_way_is_awaited_for_three_usual_durations():
    """Call it overdue after that, or after an hour if no duration is usual."""
    under_way = attempt(14_415, day=10)
    assert held(FAILED, under_way) == 14_415 + 30
    assert held(FAILED, under_way, usual=UsualFigures(86_400)) == 14_415 + 60


def test_a_night_counts_once_however_often_its_retries_failed():
    """Count a night with three failed retries as one of five."""
    night = [attempt(4 * 1440 + at, failed=4 * 1440 + at + 10, day=4) for at in (0, 15, 30)]
    assert held(*retried(4), *night, FAILED) > 0
    assert held(*retried(3), *night, FAILED) == 0


def test_a_job_that_crashes_and_restarts_notifies():
    """Wait once for the next run, which is always under way, not after each crash."""
    crashes = [attempt(at, failed=at + 1) for at in range(14_400, 14_410)]
    under_way = attempt(14_411)
    assert held(crashes[-1], under_way) > 0
    assert held(*crashes, under_way) == 0
    assert held(*crashes[:-1], attempt(14_409, failed=14_410, left=1), under_way) > 0
