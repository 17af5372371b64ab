"""Learned limits, from writes to limits and their explanation."""

from datetime import timedelta

import numpy as np
import pytest
from pyspark.sql import functions as F

from lineage.process.clock import to_micros
from slis.cadence import cadence_limits
from slis.cadence.cadence import backfills
from slis.cadence.working_time import WorkingTime
from tests.slis.single_slis import learned_limits
from tests.slis.sli_frames import day, failures, gaps, writes

HOUR = 3_600.0
DAY = 24 * HOUR


def _every(key, seconds, count, start=0, **row):  # noqa: ANN003
    """Return writes that far apart, each up to 2 % off, in a pattern that repeats."""
    offs = [0.02 * seconds * np.sin(number) for number in range(count)]
    at = [day(start) + timedelta(seconds=seconds * n + off) for n, off in enumerate(offs)]
    return [{"dataset_key": key, "written_at": time, **row} for time in at]


def test_limits_fit_the_cadence_and_the_open_gap_is_in_no_training(spark):
    """Learn daily, hourly and weekday jobs, a stopped one, a stream, and one with too few gaps."""
    monday = -27  # 5 October 2026
    weekdays = [day(monday + n, 2) for n in range(33) if (monday + n + 6) % 7 < 5]
    daily = _every(1, DAY, 30, start=-30)
    frame = writes(
        spark,
        *daily,
        *_every(2, HOUR, 200, start=-5),
        *({"dataset_key": 3, "written_at": time} for time in weekdays),
        *_every(4, DAY, 30, start=-100),
        *_every(5, 60.0, 100, is_streaming=True),
        *_every(6, DAY, 8, start=-8),
    )

    learned = learned_limits(frame, gaps(spark), as_of=day(6))
    rows = {row.dataset_key: row for row in learned.collect()}

    assert {key: (row.cadence_class, row.gaps) for key, row in rows.items()} == {
        1: ("periodic", 29),
        2: ("periodic", 199),
        3: ("periodic", 24),
        4: ("periodic", 29),
        5: ("streaming", 99),
        6: ("learning", 7),
    }
    assert DAY * 1.1 < rows[1].limit_seconds < DAY * 2
    assert HOUR * 1.1 < rows[2].limit_seconds < HOUR * 2
    friday = max(weekdays)
    assert friday.weekday() == 4
    assert (
        day(4, 2) < friday + timedelta(seconds=rows[3].limit_seconds) - timedelta(days=2) < day(7)
    )
    assert rows[4].limit_seconds == rows[1].limit_seconds
    assert rows[6].limit_seconds == pytest.approx(14 * DAY)
    assert rows[6].explanation.startswith("learning: 7 of 8 gaps")
    assert ". Learned from 24 gaps between writes: usually 1 d (± " in rows[3].explanation
    assert rows[3].explanation.startswith("Updated daily except Sat, Sun at about 02:00 (± ")
    assert "48 hours of the week do not count" in rows[3].explanation


def test_a_limit_is_never_below_the_latest_write_and_a_part_of_the_cadence(spark):
    """Take 6 h as usual: the next write is late 9.1 h after its hour, 27.1 h after the last one."""
    times = [day(n) for n in range(12)] + [day(12, 6)] + [day(13 + n, 6) for n in range(3)]
    frame = writes(spark, *({"dataset_key": 1, "written_at": time} for time in times))

    [row] = learned_limits(frame, gaps(spark), as_of=day(16)).collect()

    assert row.limit_seconds >= 27.12 * HOUR


@pytest.mark.parametrize("is_bounded", [True, False])
def test_one_late_write_of_few_does_not_make_a_limit_of_days(spark, monkeypatch, is_bounded):
    """Cap the pool's tail, which comes from hourly datasets: scaled by hours it would be days."""
    if not is_bounded:
        monkeypatch.setattr(cadence_limits, "_most", lambda _: F.lit(None).cast("double"))
    late = [day(n, 9.6 if n == 11 else n % 3 / 20) for n in range(14)]
    often = [
        {"dataset_key": key, "written_at": day(0, n + (0.4 if n == 150 else n % 7 / 100))}
        for key in range(2, 12)
        for n in range(300)
    ]
    frame = writes(spark, *({"dataset_key": 1, "written_at": time} for time in late), *often)

    learned = learned_limits(frame, gaps(spark), as_of=day(13, 12))
    limits = {row.dataset_key: row.limit_seconds / HOUR for row in learned.collect()}

    # A write is due a day after the last; one that is a day late never came.
    assert (limits[1] <= 48) is is_bounded
    assert 1.4 < limits[2] < 3


@pytest.mark.parametrize(("minutes", "late"), [(15, 4.8), (5, 1.6)])
def test_one_late_write_of_a_fast_job_does_not_hide_that_it_flaps(spark, minutes, late):
    """Report the job late within three cycles: two of its three runs fail."""
    delay = [late if n == 150 else n % 7 / 20 for n in range(280)]
    fast = [day(0, (n * minutes + delay[n]) / 60) for n in range(280)]
    pool = [
        {"dataset_key": key, "written_at": day(0, n + (0.9 if n == 40 else n % 7 / 100))}
        for key in range(2, 12)
        for n in range(60)
    ]
    frame = writes(spark, *({"dataset_key": 1, "written_at": time} for time in fast), *pool)

    learned = learned_limits(frame, gaps(spark), as_of=day(3)).where("dataset_key = 1")
    [row] = learned.collect()

    assert row.limit_seconds < 2.2 * minutes * 60


def test_a_schedule_continues_through_a_planned_window(spark):
    """Expect the next night's write at its hour, although one write is 10 h late in a window."""
    usual = [day(n, 4.6 + n % 3 / 20) for n in range(20)]
    planned = (day(12, 4.3), day(12, 18.3))
    times = [day(12, 14.5) if n == 12 else at for n, at in enumerate(usual)]
    frame = writes(spark, *({"dataset_key": 1, "written_at": time} for time in times))
    window = tuple(to_micros(end) for end in planned)
    clock = {None: WorkingTime(windows=(window,))}

    def due(as_of, newest):
        [row] = learned_limits(frame, gaps(spark), as_of=as_of, times=clock).collect()
        return newest + timedelta(seconds=row.limit_seconds)

    # Within the window, the night's slot is at its end. A write in the window counts at its
    # end.
    assert day(12, 18.3) < due(day(12, 5), times[11]) < day(12, 23)
    assert day(13, 4.8) < due(day(12, 20), times[12]) < day(13, 23)
    assert day(14, 7) < due(day(13, 20), times[13]) < day(14, 9)
    assert day(20, 7) < due(day(19, 20), times[19]) < day(20, 9)


def test_own_gaps_backfills_and_reruns_train_nothing(spark):
    """Leave out ingestion gaps, writes for older days, and 20 reruns of one day by hand."""
    frame = writes(
        spark,
        *_every(1, DAY, 12),
        *({"dataset_key": 2, **row} for row in _nominal_writes(range(12))),
        *({"dataset_key": 2, "written_at": day(11, 1, n), **_nominal_at(n)} for n in range(9)),
        *({"dataset_key": 3, **row} for row in _nominal_writes(range(12))),
        *({"dataset_key": 3, "written_at": day(10, 11, n), **_nominal_at(10)} for n in range(20)),
    )
    silent = gaps(spark, ("ingestion", day(4, 12), day(4, 13)))

    rows = {row.dataset_key: row for row in learned_limits(frame, silent, as_of=day(12)).collect()}

    assert rows[1].gaps == 10
    assert [(rows[key].gaps, rows[key].cadence_seconds) for key in (2, 3)] == [(10, DAY)] * 2


@pytest.mark.parametrize("is_reported", [True, False])
def test_a_job_that_flapped_for_a_day_keeps_its_cadence(spark, is_reported):
    """Keep an hourly cadence after a day on which two of three runs failed.

    Without the failures, the cadence would be three hours.
    """
    well = [day(0, hour + hour % 7 / 100) for hour in range(240)]
    flapping = [day(10, hour + hour % 7 / 100) for hour in range(24)]
    frame = writes(spark, *({"dataset_key": 1, "written_at": at} for at in well + flapping[2::3]))
    failed = [(1, at) for hour, at in enumerate(flapping) if hour % 3 < 2 and is_reported]

    [row] = learned_limits(frame, gaps(spark), failures(spark, *failed), as_of=day(11)).collect()

    assert (row.limit_seconds < 2 * HOUR) is is_reported


def _nominal_at(number):
    return {"nominal_start_at": day(number)}


def _nominal_writes(numbers):
    return [{"written_at": day(n), **_nominal_at(n)} for n in numbers]


def test_a_backfill_is_meant_for_more_than_one_cadence_before_the_newest():
    """Treat the day before, and a write without a nominal time, as no backfill."""
    meant_for = np.array([1.0, 2.0, 3.0, 4.0, 3.0, 2.0, np.nan, 5.0])

    assert _backfills(meant_for) == [False] * 5 + [True, False, False]


@pytest.mark.parametrize("far", [9e9, 12.0, 8.5], ids=["2099", "next week", "tomorrow"])
def test_a_write_for_the_far_future_makes_no_later_write_a_backfill(far):
    """Keep later writes fresh after an open-end partition or a mistyped date."""
    assert not any(_backfills([3.0, 4.0, far, 5.0, 6.0, 7.0]))
    assert _backfills([3.0, 4.0, far, 5.0, 6.0, 7.0, 8.0, 3.0])[-1]


def test_a_job_that_writes_ahead_of_its_time_has_no_backfill():
    """Accept a daily forecast for next week."""
    assert not any(_backfills([9.0, 10.0, 11.0, 12.0, 13.0]))


def _backfills(meant_for):
    """Return the backfills among writes a day apart, from the third day on."""
    return backfills(np.array(meant_for), np.arange(3, 3 + len(meant_for))).tolist()
