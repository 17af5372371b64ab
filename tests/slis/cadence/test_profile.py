"""Profile of one dataset's writes: schedules by their phase, bursts by their pauses."""

import numpy as np
import pytest

from slis.cadence import irregular_gaps
from slis.cadence.irregular_gaps import bursts_end_at, gamma_deviation, irregular
from slis.cadence.profile import BURSTY, EVENT_DRIVEN, PERIODIC, REGULAR, cadence_of, gap_origin

HOUR, DAY = 3_600.0, 86_400.0
ALWAYS = np.ones(168, dtype=np.bool_)


def _cadence(working):
    return cadence_of(working, np.ones(working.size, dtype=np.bool_), ALWAYS)


def _daily_seconds(count, chance, hour=2.0):
    return np.arange(count) * DAY + hour * HOUR + chance.uniform(0, HOUR, count)


def test_an_outage_changes_neither_cycle_nor_phase_of_a_schedule():
    """Count ten lost days as ten slots without a write: neither a delay nor another cycle."""
    working = np.delete(_daily_seconds(60, np.random.default_rng(1)), slice(30, 40))

    cadence = _cadence(working)

    assert (cadence.cadence_class, cadence.cycle_seconds, cadence.gaps) == (PERIODIC, DAY, 49)
    assert cadence.phase % DAY == pytest.approx(2.5 * HOUR, abs=0.2 * HOUR)
    assert 0 < cadence.largest <= 0.7 * HOUR


def test_the_next_slot_does_not_wait_for_a_late_write():
    """Expect the next write half an hour sooner after one half an hour late.

    A schedule is new once writes are later than ever.
    """
    cadence = _cadence(_daily_seconds(60, np.random.default_rng(1)))
    slot = 60 * DAY + cadence.phase

    late, too_late = gap_origin(np.array([slot + 0.3 * HOUR, slot + 6 * HOUR]), cadence)

    assert late == pytest.approx(slot + DAY)
    assert too_late == pytest.approx(slot + 6 * HOUR + DAY)


def test_a_slower_cadence_is_learned_from_three_gaps_without_a_pool():
    """Expect a dataset of 40 days by its new cycle, without a tail."""
    chance = np.random.default_rng(1)
    later = 40 * DAY + np.arange(5) * 2 * DAY + 2 * HOUR + chance.uniform(0, HOUR, 5)

    cadence = _cadence(np.concatenate([_daily_seconds(40, chance), later]))

    assert (cadence.cycle_seconds, cadence.gaps, cadence.scores) == (2 * DAY, 8, ())
    assert cadence.level == cadence.largest


def test_bursts_are_judged_by_the_pauses_between_them():
    """Judge 200 bursts of five writes, a minute apart, by the six hours between bursts."""
    chance = np.random.default_rng(1)
    pauses = chance.gamma(4, 1.5 * HOUR, 200)
    gaps = np.concatenate([[60.0, 60.0, 60.0, 60.0, pause] for pause in pauses])

    cadence = _cadence(np.concatenate([[0.0], np.cumsum(gaps)]))

    assert cadence.cadence_class == BURSTY
    assert cadence.gaps == pytest.approx(200, abs=4)
    assert cadence.usual_gap == pytest.approx(pauses.mean(), rel=0.05)
    assert bursts_end_at(pauses) is None


def test_writes_without_a_schedule_are_regular_or_not():
    """Call writes 17 hours apart no schedule, and gaps from one to nine hours irregular."""
    chance = np.random.default_rng(1)

    regular = _cadence(np.cumsum(chance.uniform(16.5, 17.5, 60) * HOUR))
    wild = _cadence(np.cumsum(chance.uniform(1, 9, 60) * HOUR))

    assert (regular.cadence_class, wild.cadence_class) == (REGULAR, EVENT_DRIVEN)


def test_irregular_gaps_are_those_since_their_mean_changed_without_outages():
    """Detect a change of the mean from 6 h to 2 h.

    Chance alone cuts nothing off, and 200 h is an outage.
    """
    chance = np.random.default_rng(1)
    before, after = chance.gamma(3, 2 * HOUR, 100), chance.gamma(3, HOUR * 2 / 3, 60)
    kept = irregular(np.concatenate([before, after]))

    assert abs(kept.size - 60) <= 5
    assert irregular(np.append(before, 200 * HOUR)).size == 100


def _called_faster(monkeypatch):
    """Count how often 100 unchanging datasets are called faster, after each tenth of 500 pauses."""
    monkeypatch.setattr(irregular_gaps, "_SLOWER", np.inf)
    pauses = np.random.default_rng(1).gamma(2.0, 2 * HOUR, (100, 500))
    looks = [row[:size] for row in pauses for size in range(30, 500, 10)]
    return sum(irregular(known).size < known.size - 5 for known in looks)


def test_chance_makes_no_bursty_dataset_a_faster_one(monkeypatch):
    """Ignore pauses that are short by chance, many in a row: their limit would be false alarms."""
    assert _called_faster(monkeypatch) == 0


def test_the_threshold_for_a_slower_cadence_would_find_a_faster_one_by_chance(monkeypatch):
    """Remove the guarantee."""
    monkeypatch.setattr(irregular_gaps, "_FASTER", 8.0)

    assert _called_faster(monkeypatch) > 3


def test_the_deviation_of_irregular_gaps_errs_less_than_the_plain_one():
    """Compare both estimates over 200 gamma distributed pauses, 1,000 times."""
    drawn = np.random.default_rng(3).gamma(3.0, HOUR / 3, (1_000, 200))
    right = HOUR / np.sqrt(3)
    ours, plain = (
        np.array([deviation(row) for row in drawn]) for deviation in (gamma_deviation, np.std)
    )

    assert ours.mean() == pytest.approx(right, rel=0.01)
    assert np.square(ours - right).mean() < 0.9 * np.square(plain - right).mean()


def test_a_single_write_has_no_profile():
    """Learn nothing: there is no gap."""
    cadence = _cadence(np.array([5.0]))

    assert (cadence.gaps, cadence.usual_gap, cadence.scores) == (0, None, ())


@pytest.mark.parametrize("moved", [1, 8, 9, 10, 20, 49, 51, 60, 110])
def test_a_phase_that_has_just_moved_is_a_delay_until_enough_writes_keep_to_it(moved):
    """Learn a cadence, and a limit that allows for the new phase, from the first writes on."""
    working = np.arange(400) * 2 * HOUR + np.where(np.arange(400) < 400 - moved, 0, HOUR)

    cadence = _cadence(working + np.random.default_rng(1).uniform(0, 300, 400))

    assert (cadence.cadence_class, cadence.cycle_seconds) == (PERIODIC, 2 * HOUR)
    assert cadence.largest >= (HOUR if moved < 50 else 0) - 600


def test_a_phase_that_moved_for_good_is_no_delay():
    """Expect a job of each second hour by elapsed hours: clock changes move its wall time."""
    chance = np.random.default_rng(1)
    hours = np.arange(1_000) * 2 * HOUR
    working = np.where(np.arange(1_000) < 600, hours, hours + HOUR) + chance.uniform(0, 300, 1_000)

    cadence = _cadence(working)

    assert (cadence.cadence_class, cadence.cycle_seconds) == (PERIODIC, 2 * HOUR)
    assert cadence.largest <= 300
    assert 380 <= cadence.gaps <= 400
