"""Command `lineward bench cadences` on a small folder with a known result."""

import pytest

from lab.bench import cadences
from lab.bench.freshness import LEARNED, MEDIAN, Z_SCORE
from lab.histories.folder import read_histories
from tests.lab.histories.made_histories import DAY, START, daily_seconds, write_folder


@pytest.fixture(scope="module")
def figures(spark, tmp_path_factory):
    """Replay two daily feeds of two repositories, each with a lost week, and a weekly one."""
    folder = tmp_path_factory.mktemp("histories")
    first, second = (
        daily_seconds(70, without=range(50, 57)),
        daily_seconds(40, without=range(30, 33)),
    )
    weekly = [START + week * 7 * DAY for week in range(14)]
    write_folder(
        folder,
        [
            ("a", "org/one", "daily (62 gaps)", first, {first[49]: ("outage", "daily")}),
            ("b", "org/two", "daily (36 gaps)", second, {second[29]: ("outage", "daily")}),
            ("c", "org/two", "weekly (13 gaps)", weekly, {}),
        ],
    )
    return cadences.measure(spark, read_histories(folder))


def test_each_class_is_judged_by_each_rule(figures):
    """Find both outages, without a false alarm, from the fourth write on."""
    rows = {(row.cadence, row.rule): row for row in figures.classes}
    learned = rows["daily", LEARNED]

    assert {name for name, _ in rows} == {"daily", "weekly", "scheduled", "all"}
    assert {rule for _, rule in rows} == {LEARNED, Z_SCORE, MEDIAN}
    assert (learned.outages_found, learned.outages, learned.false_alarms) == (2, 2, 0)
    assert learned.dataset_weeks == pytest.approx((69 - 3 + 39 - 3) / 7, abs=0.1)
    assert 1 < learned.delay_median < 2.1
    assert rows["weekly", LEARNED].dataset_weeks == pytest.approx(10, abs=0.1)


def test_a_curve_trades_false_alarms_for_outages(figures):
    """Find no fewer outages by a shorter limit, with no fewer false alarms."""
    points = [point for point in figures.curve if point.rule == LEARNED]

    assert [point.parameter for point in points] == sorted(point.parameter for point in points)
    rates = [point.false_alarms_per_1000_weeks for point in points]
    found = [point.outages_found for point in points]
    assert rates == sorted(rates, reverse=True)
    assert found == sorted(found, reverse=True)
    assert rates[0] > 0


def test_each_repository_is_judged_by_parameters_of_the_others(figures):
    """Choose the parameter that has no false alarm on the other repository."""
    folds = {(fold.rule, fold.repository): fold for fold in figures.folds}

    assert set(folds) == {
        (rule, name) for rule in (LEARNED, Z_SCORE, MEDIAN) for name in ("org/one", "org/two")
    }
    assert folds[LEARNED, "org/one"].outages_found == 1
    assert folds[LEARNED, "org/one"].false_alarms_per_1000_weeks == 0


def test_no_limit_uses_later_writes(spark, tmp_path):
    """Compute the same deadlines for a history that ends earlier."""
    whole, part = daily_seconds(40), daily_seconds(30)
    folder = write_folder(tmp_path, [("a", "o/o", "daily (9 gaps)", whole, {})])
    long = cadences.learned_deadlines(spark, read_histories(folder))[0]
    write_folder(tmp_path, [("a", "o/o", "daily (9 gaps)", part, {})])
    short = cadences.learned_deadlines(spark, read_histories(folder))[0]

    assert long[: short.size].tolist() == short.tolist()
