"""Hours of the week in which a dataset is written, learned from its writes."""

import numpy as np

from slis.cadence.working_week import working_hours

HOUR, DAY, WEEK = 3_600.0, 86_400.0, 7 * 86_400.0


def _near_the_hour(wall):
    """Return times before and after the full hour: they fall into two hours of the week."""
    return wall + np.random.default_rng(1).choice((-60.0, 60.0), wall.size)


def _off(wall):
    return int((~working_hours(wall)).sum())


def test_a_weekday_job_has_its_weekends_off_though_it_ends_near_the_full_hour():
    """Ignore one Saturday; runs end before three or after it."""
    days = np.arange(28.0)
    days = days[days % 7 < 5]
    wall = _near_the_hour(days * DAY + 3 * HOUR)

    assert _off(wall) == 48
    assert _off(np.sort(np.append(wall, 12 * DAY + 9 * HOUR))) == 48


def test_every_second_day_has_no_day_off_after_an_outage():
    """Find no day off after two lost weeks, in which each weekday was used once or twice."""
    days = np.arange(0.0, 60.0, 2.0)
    wall = _near_the_hour(days[(days < 30) | (days > 44)] * DAY + 3 * HOUR)

    assert [_off(wall[:count]) for count in range(12, wall.size + 1)] == [0] * (wall.size - 11)


def test_a_slower_cadence_has_no_pauses_in_its_former_hours():
    """Find no pause in the odd hours after an hourly job of four weeks became two-hourly."""
    wall = np.concatenate([np.arange(0, 4 * WEEK, HOUR), np.arange(4 * WEEK, 10 * WEEK, 2 * HOUR)])
    wall, later = _near_the_hour(wall), np.flatnonzero(wall > 4 * WEEK + DAY)

    assert {_off(wall[: count + 1]) for count in later[::6]} == {0}
