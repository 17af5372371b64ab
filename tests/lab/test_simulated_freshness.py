"""Quality of learned limits, in the short form of `lineward bench freshness`."""

from collections import defaultdict

import numpy as np
import pytest

from lab.bench import freshness
from lab.bench.freshness import LEARNED, MEDIAN, Z_SCORE
from lab.simulation import judgement
from lab.simulation.delays import Delays
from lab.simulation.gaps import FIXED, SILENCE, USUAL
from lab.simulation.scheduled import daily, hourly, weekday
from lab.simulation.streams import streaming
from lab.simulation.unscheduled import bursty
from lab.simulation.wall_clock import midnight_after
from lab.simulation.young import young

COUNT = 9


@pytest.fixture(scope="module")
def figures(spark, tmp_path_factory):
    """Return the results by rule, then by class: 54 datasets, 17 weeks of the old ones."""
    by_rule = defaultdict(dict)
    folder = tmp_path_factory.mktemp("simulation")
    with pytest.MonkeyPatch.context() as patched:
        # After a change of cadence the long form learns from each of 28 writes.
        patched.setattr(judgement, "_CYCLES", 12)
        for row in freshness.figures(spark, folder, seed=1, count=COUNT):
            by_rule[row.rule][row.cadence] = row
    return by_rule


def test_learned_limits_find_outages_nearly_as_soon_as_the_oracle(figures):
    """Meet the goals of the long form, with room for chance: 9 datasets per class, 20 outages."""
    learned = {name: row for name, row in figures[LEARNED].items() if name != "young"}

    assert set(learned) == {"daily", "weekday", "hourly", "streaming", "bursty"}
    assert all(row.silences > 15 for row in learned.values())
    assert min(row.found_near for row in learned.values()) >= 0.85
    assert np.mean([row.found_near for row in learned.values()]) >= 0.95
    # Allow two alarms in all 45 datasets, of 770 dataset-weeks.
    assert np.mean([row.false_alarms for row in learned.values()]) <= 3.0


def test_limits_of_young_datasets_find_outages_a_cycle_late_at_most(figures):
    """Train although half of the datasets had one of a dozen writes half a cycle late."""
    found = figures[LEARNED]["young"]

    assert found.silences > 8
    assert found.longest_of_oracles < 2.1
    # Allow none in 40 weeks.
    assert found.false_alarms < 20


def test_the_late_writes_of_young_datasets_are_before_their_outages():
    """Draw at most one per dataset, a quarter of a cycle late or more; then writes continue."""
    gaps = young(np.random.default_rng(2), 36).gaps
    fixed, silent = (np.flatnonzero(gaps.kind == kind) for kind in (FIXED, SILENCE))

    assert 10 < fixed.size < 26
    assert np.unique(gaps.dataset[fixed]).size == fixed.size
    last = {gaps.dataset[place]: place for place in silent}
    assert all(place < last[gaps.dataset[place]] for place in fixed)
    length = gaps.ended_at - gaps.started_at
    usual = np.array([np.median(length[gaps.dataset == gaps.dataset[one]]) for one in fixed])
    assert (length[fixed] > 1.1 * usual).all()
    assert (length > 0).all()


def test_a_rule_that_trains_on_the_gap_under_test_finds_hardly_any(figures):
    """Find few anomalies where a day is in its own mean and deviation (mutant)."""
    assert max(row.found_near for row in figures[Z_SCORE].values()) < 0.5
    assert figures[MEDIAN]["daily"].delay_of_oracles > 2


def test_no_limit_uses_the_gap_that_it_judges(spark, tmp_path):
    """Use no write later than the one that began the gap."""
    simulated = daily(np.random.default_rng(3), 4)
    instants = [midnight_after(60.0), midnight_after(81.0), midnight_after(120.0)]
    rows = judgement.limit_gaps(spark, tmp_path, simulated, instants)
    micros = np.array([round(one.timestamp() * 1e6) for one in instants])

    seen = 0
    for row, places in judgement.by_profile(simulated, rows, micros):
        assert (simulated.gaps.started_at[places] >= row.last_micros).all()
        assert (simulated.gaps.ended_at[places] > row.as_of).all()
        seen += places.size
    assert seen > 4 * 80


@pytest.mark.parametrize("simulate", [daily, weekday, hourly, streaming, bursty])
def test_the_oracle_is_rarely_wrong_and_finds_every_outage_that_lasts(simulate):
    """Allow one false alarm in 1,000 weeks, of 60 datasets none to 6: it knows the distribution."""
    simulated = simulate(np.random.default_rng(5), 60)
    gaps = simulated.gaps
    is_late = gaps.ended_at > gaps.oracle_due_at

    assert (is_late & (gaps.kind == USUAL)).sum() <= 6
    assert is_late[gaps.kind == SILENCE].mean() > 0.9
    assert (np.diff(gaps.dataset) >= 0).all()


def test_the_quantile_of_a_delay_matches_draws():
    """Compare a million draws to a tenth of a percent, with retries and the heavy tail."""
    one = np.ones(1)
    delays = Delays(60 * one, 0.2 * one, 0.03 * one, 90 * one, 0.02 * one, 3 * one, 1_600 * one)
    drawn = delays.drawn(np.random.default_rng(1), 1_000_000)[0]

    for rarity in (0.1, 0.01, 0.001):
        limit = delays.quantile(np.array([rarity]))[0]
        assert abs((drawn > limit).mean() - rarity) < 0.001
