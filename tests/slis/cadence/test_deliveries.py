"""Reloads, reruns and recurring gaps: they neither cause nor hide an alert."""

import numpy as np
import pytest

from slis.cadence.deliveries import (
    begin_deliveries,
    begin_slots,
    end_root_runs,
    recurring_gap,
    spans_of,
)
from slis.cadence.profile import PERIODIC, cadence_of, last_delivery
from tests.slis.single_slis import learned_limits
from tests.slis.sli_frames import day, gaps, writes

HOUR, DAY = 3_600.0, 86_400.0
ALWAYS = np.ones(168, dtype=np.bool_)


def _micros(hours):
    return (np.array(hours, dtype=np.float64) * HOUR * 1e6).astype(np.int64)


def _list_left_out(writes):
    """Return the hours of the writes, each with its root run, that are no deliveries."""
    hours, runs = zip(*writes, strict=True)
    ends = end_root_runs(_micros(hours), np.array(runs))
    return [hours[place] for place in np.flatnonzero(~ends)]


def _nights(lengths):
    """Return the hourly writes of an application that runs for so many hours each night."""
    return [
        (24.0 * night + hour, night + 1)
        for night, length in enumerate(lengths)
        for hour in range(length + 1)
    ]


def test_a_root_run_is_one_delivery_unless_it_writes_for_hours():
    """Count the last write of a nightly application, and each of a long one and of unknown runs."""
    nightly = [(2.0, 1), (2.9, 1), (3.5, 1), (26.0, 2), (26.9, 2), (31.9, 2)]
    long = [(32.0 + hour, 3) for hour in range(80)]
    unknown = [(120.0, 0), (121.0, 0)]

    assert _list_left_out([*nightly, *unknown]) == [2.0, 2.9, 26.0, 26.9]
    assert _list_left_out([*nightly, *long, *unknown]) == []


@pytest.mark.parametrize(("usual", "other"), [(5, 7), (5, 22), (7, 5)])
def test_one_night_does_not_change_what_a_delivery_is(usual, other):
    """Judge a night of another length as the others: a cadence must not switch by it."""
    nights = _nights([*[usual] * 9, other])
    ends = [24.0 * night + usual for night in range(9)] + [24.0 * 9 + other]

    expected = [] if usual > other else [hour for hour, _ in nights if hour not in ends]
    assert _list_left_out(nights) == expected


def test_the_writes_of_a_server_count_within_days_of_the_change():
    """Ignore root runs that ended a month ago: the dataset is written in another way now."""
    nights = _nights([3] * 60)
    server = [(24.0 * 60 + hour, 99) for hour in range(24 * 35)]

    assert _list_left_out([*nights, *server]) == []


def test_reruns_of_a_time_that_was_served_are_no_deliveries():
    """Count one write a day where a day was written once and then 40 times by hand."""
    meant_for = np.array([*range(20), *(19 for _ in range(40)), 20], dtype=np.float64)

    assert np.flatnonzero(~begin_slots(meant_for)).tolist() == list(range(20, 60))


@pytest.mark.parametrize(
    "meant_for",
    [[day for day in range(20) for _ in range(24)], [np.nan] * 40, [0, 1, 2, 2]],
    ids=["hourly into daily partitions", "no time", "too few times"],
)
def test_writes_for_one_time_are_deliveries_where_that_is_the_rule(meant_for):
    assert begin_slots(np.array(meant_for, dtype=np.float64)).all()


def test_reloads_on_a_day_of_a_daily_feed_begin_no_delivery():
    """Count three writes within hours of the day's own as the same delivery."""
    hours = sorted([*(24.0 * number for number in range(20)), 121, 122, 127])

    begins = begin_deliveries(_micros(hours))

    assert [hours[place] for place in np.flatnonzero(~begins)] == [121, 122, 127]


@pytest.mark.parametrize(
    "hours",
    [
        [12.0 * number for number in range(40)],
        [number + 24.0 * day for day in range(20) for number in range(3)],
        [24.0 * number for number in range(8)] + [169.0],
    ],
    ids=["twice a day", "three a day", "too few days"],
)
def test_writes_of_other_cadences_are_deliveries_each(hours):
    """Collapse nothing where several writes a day are the rule, or little is known."""
    assert begin_deliveries(_micros(hours)).all()


def test_a_time_of_many_writes_a_day_stays_as_it_was():
    """Keep the gaps of an hourly feed that became a daily one."""
    hours = [*range(200), *(200 + 24 * number for number in range(1, 30)), 200 + 24 * 29 + 1]

    begins = begin_deliveries(_micros(hours))

    assert np.flatnonzero(~begins).tolist() == [len(hours) - 1]


def test_a_gap_between_deliveries_trains_if_all_of_its_parts_do():
    """Fold the flags of the gaps before reloads into those before deliveries."""
    begins = np.array([True, True, False, True, False])
    flags = np.array([True, True, False, True, True])

    assert spans_of(begins, flags, is_any=False).tolist() == [True, True, False]
    assert spans_of(begins, ~flags, is_any=True).tolist() == [False, False, True]


def test_the_fifth_longest_gap_recurs():
    """Count misses too."""
    known = np.array([9.0, 9, 9, 9, 9] + [2.0] * 7)

    assert recurring_gap(known, 0, 1.1) == 9
    assert recurring_gap(known[1:], 0, 1.1) == 2
    assert recurring_gap(known[:4], 0, 1.1) is None


def test_usual_gaps_of_a_cadence_that_is_over_do_not_recur():
    """Let a daily dataset become half-daily: of its days none recurs, of its holidays each does."""
    days, holidays, halves = [24.0] * 20, [72.0] * 3, [12.0] * 4

    assert _recurring(days + halves, 20) is None
    assert _recurring([*days, *halves, 12], 20) == 12
    assert _recurring([*days, *holidays, *halves, 72, 72], 23) == 72


def test_retries_of_a_cadence_that_is_over_do_not_recur():
    """Ignore a delay of two hours after a dataset of every second hour became hourly."""
    assert _recurring([2.0] * 50 + [4.0] * 6 + [1.0] * 8, 56) == 1


def _recurring(hours, settled):
    found = recurring_gap(np.array(hours) * HOUR, settled, 1.1)
    return None if found is None else found / HOUR


def test_a_cadence_that_became_faster_lately_is_no_longer_as_slow():
    """Learn the limit of a half-daily dataset that was daily until four days ago."""
    chance = np.random.default_rng(1)
    gaps = np.append(np.full(60, DAY), np.full(7, DAY / 2)) + chance.uniform(0, 60, 67)
    working = np.cumsum(gaps)

    cadence = cadence_of(working, np.ones(working.size, dtype=np.bool_), ALWAYS)

    assert cadence.cycle_seconds == DAY / 2
    assert cadence.recurring is not None
    assert cadence.recurring < 0.6 * DAY


def _nightly(count, *, rerun=()):
    """Return the seconds of nightly writes at 00:34, and of reruns at 11:00."""
    nights = [number * DAY + 34 * 60 + number % 5 * 60 for number in range(count)]
    return np.sort(np.array(nights + [number * DAY + 11 * HOUR for number in rerun]))


def test_a_rerun_in_a_served_cycle_is_no_delay():
    """Judge a night by the first write of its slot: a rerun at 11:00 teaches nothing."""
    without, with_ = (
        cadence_of(working, np.ones(working.size, dtype=np.bool_), ALWAYS)
        for working in (_nightly(60), _nightly(60, rerun=[20, 41]))
    )

    assert (with_.cadence_class, with_.cycle_seconds) == (PERIODIC, DAY)
    assert with_.largest == pytest.approx(without.largest, abs=90)
    assert with_.gaps == without.gaps == 59
    assert last_delivery(_nightly(60, rerun=[59]), without) == 59


def test_a_rerun_puts_no_deadline_off(spark):
    """Keep the same deadlines with a rerun, weeks ago or today, as without one."""
    frames = {1: (), 2: (20,), 3: (59,)}
    rows = [
        {"dataset_key": key, "written_at": day(0, second / HOUR)}
        for key, rerun in frames.items()
        for second in _nightly(60, rerun=rerun).tolist()
    ]

    learned = learned_limits(writes(spark, *rows), gaps(spark), as_of=day(59, 12)).collect()
    limits = {row.dataset_key: row.limit_seconds for row in learned}

    assert limits[1] < 30 * HOUR
    assert limits[2] == pytest.approx(limits[1], abs=300)
    rerun_after = 11 * HOUR - 34 * 60 - 4 * 60
    assert limits[3] == pytest.approx(limits[1] - rerun_after, abs=300)


@pytest.mark.parametrize(("times", "is_raised"), [(5, True), (4, False)])
def test_a_gap_that_came_five_times_raises_the_limit(spark, times, is_raised):
    """Wait three days where every few weeks two days are left out, never twice in a row."""
    lost = {10 + 9 * number + place for number in range(times) for place in (0, 1)}
    rows = [
        {"dataset_key": 1, "written_at": day(number, number % 4 / 20)}
        for number in range(64)
        if number not in lost
    ]

    [row] = learned_limits(writes(spark, *rows), gaps(spark), as_of=day(63, 12)).collect()

    assert (row.limit_seconds > 3 * DAY) is is_raised
    assert row.limit_seconds < 3.5 * DAY
