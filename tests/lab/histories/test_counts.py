"""Format of a folder of histories, and counts over its gaps, without Spark."""

import numpy as np
import pytest

from lab.histories import counts, history_baselines
from lab.histories.folder import InvalidHistoriesError, read_histories
from lab.histories.walk import learning_times
from lab.simulation.wall_clock import NEVER_DUE
from tests.lab.histories.made_histories import DAY, START, daily_seconds, write_folder

MICROS = 1_000_000


@pytest.fixture
def histories(tmp_path):
    """Return one daily history with a lost week, a late write and an unclear gap."""
    seconds = daily_seconds(60, without=range(40, 47), late=[30])
    labelled = {
        seconds[39]: ("outage", "daily"),
        seconds[29]: ("late", "daily"),
        seconds[20]: ("unclear", "manual"),
    }
    seen = "daily (40 gaps); manual (12 gaps)"
    return read_histories(write_folder(tmp_path, [("a", "org/one", seen, seconds, labelled)]))


def test_each_gap_has_its_label_and_its_nearest_class(histories):
    """Label gaps without a label as normal."""
    [history] = histories

    assert (history.name, history.repository) == ("a.csv", "org/one")
    assert history.written_at.size == 53
    labels = {20: "unclear", 29: "late", 39: "outage"}
    assert history.labels == [labels.get(place, "normal") for place in range(52)]
    assert history.classes == ["manual"] * 25 + ["daily"] * 27


def test_a_folder_without_an_index_is_an_error_that_names_it(tmp_path):
    """Name the missing file."""
    with pytest.raises(InvalidHistoriesError, match=r"labels\.csv"):
        read_histories(tmp_path)


def test_only_alarms_in_normal_gaps_are_false(histories):
    """Count alarms by label, on gaps that have a limit alone."""
    at = histories[0].written_at
    limit = np.full(52, 30 * 3_600 * MICROS)
    limit[[10, 15]] = 3_600 * MICROS, NEVER_DUE - at[15]
    due = at[:-1] + limit
    gaps = counts.judge_gaps(histories, [due])

    figures = counts.class_figures(counts.ALL, "learned", gaps, due)

    assert figures.false_alarms == 1
    assert (figures.outages, figures.outages_found, figures.late) == (1, 1, "1 of 1")
    assert figures.dataset_weeks == pytest.approx(58 / 7, abs=0.1)
    assert figures.false_alarms_per_1000_weeks == pytest.approx(1_000 / figures.dataset_weeks)
    assert figures.delay_median == pytest.approx(1.25, abs=0.01)


def test_an_alarm_comes_half_a_minute_after_the_deadline(histories):
    """Count no alarm for a write that came before the next evaluation."""
    ended = histories[0].written_at[1:]
    gaps = counts.judge_gaps(histories, [ended - 30 * MICROS])

    assert not counts.is_alarmed(gaps, ended - 30 * MICROS).any()
    assert counts.is_alarmed(gaps, ended - 31 * MICROS).all()


def test_a_fixed_multiple_is_of_the_median_of_sixty_days(histories):
    """Set no deadline for the first gap; later ones have three days."""
    due = history_baselines.by_median(histories[0])
    lasts = (due - histories[0].written_at[:-1]) / MICROS

    assert due[0] == NEVER_DUE
    assert lasts[10:] == pytest.approx(3 * DAY, abs=600)


def test_a_z_score_finds_a_lost_week_at_the_end_of_a_day(tmp_path):
    """Find the outage on the day after the first that had no write."""
    seconds = daily_seconds(60, without=range(40, 47))
    [history] = read_histories(
        write_folder(tmp_path, [("a", "o/o", "daily (9 gaps)", seconds, {})])
    )

    due = history_baselines.by_day(history)

    assert np.flatnonzero(due < NEVER_DUE).tolist() == [39]
    assert (due[39] / MICROS - START) / DAY == 41


def test_limits_are_learned_after_each_write_of_slow_datasets():
    """Learn a dataset with more than eight writes a day every six hours."""
    hours = np.arange(100) * 3_600 * MICROS
    days = np.arange(30) * DAY * MICROS

    assert learning_times(days) == days.tolist()
    assert np.diff(learning_times(hours)[8:]).tolist() == [6 * 3_600 * MICROS] * 14
