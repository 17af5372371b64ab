"""Monthly schedules, new cadences and feeds that end while they are learned."""

from datetime import UTC, datetime

import numpy as np
import pytest

from slis.cadence.wide_limits import CHANGING, FEW, SLOW, wide_limit
from slis.evaluation.facts_as_of import facts_as_of
from tests.slis.single_slis import freshness, learned_limits
from tests.slis.sli_frames import activity, datasets, day, edges, gaps, instants, writes

HOUR, DAY = 3_600.0, 86_400.0


def test_a_monthly_schedule_has_a_limit_from_three_gaps_on():
    """Wait half a month more at first, a quarter once eight months are known."""
    months = np.array([31, 30, 31, 31, 28, 31, 30, 31]) * DAY

    assert wide_limit(months[:2], 2) is None
    assert wide_limit(months[:3], 3) == (SLOW, 46.5 * DAY)
    assert wide_limit(months, 8) == (SLOW, pytest.approx((31 + 31 / 4) * DAY))


def test_a_month_that_was_missed_does_not_widen_the_limit():
    """Find the second month missed as soon as the first."""
    months = np.array([31, 30, 61, 31, 30, 31, 30, 31, 31]) * DAY

    assert wide_limit(months, 8) == (SLOW, 38.75 * DAY)


def test_a_new_cadence_keeps_a_limit_and_a_few_gaps_have_a_wide_one():
    """Set a limit from eight gaps of any cadence, or from three; a known tail narrows it."""
    changed = np.array([1.0] * 8 + [3.0] * 3) * DAY

    assert wide_limit(changed, 3) == (CHANGING, 3.5 * DAY)
    assert wide_limit(changed, 8) is None
    assert wide_limit(changed[-4:], 4) == (FEW, 14 * DAY)
    assert wide_limit(np.array([2.0, 21.0, 9.0]) * DAY, 3) == (FEW, 63 * DAY)


def test_a_monthly_feed_is_learned_from_two_years(spark):
    """Set a limit of a month and a part, although half a year has only six of its gaps."""
    firsts = [datetime(2025 + month // 12, month % 12 + 1, 1, 6, tzinfo=UTC) for month in range(23)]
    rows = [{"dataset_key": 1, "written_at": at} for at in firsts]

    [row] = learned_limits(writes(spark, *rows), gaps(spark), as_of=day(1)).collect()

    assert (row.cadence_class, row.gaps) == (SLOW, 22)
    assert 31 * DAY < row.limit_seconds < 40 * DAY
    assert row.explanation.startswith("Updated about every 31 d")


def test_a_feed_that_ends_while_it_is_learned_is_bad_once_and_never_good(spark):
    """Report `learning` until the wide limit has passed."""
    described = datasets(
        spark,
        {"dataset_key": 1, "learned_limit_seconds": 14 * DAY, "cadence_class": FEW},
    )
    facts = activity(spark, {"dataset_key": 1, "write": {"written_at": day(1)}})
    grid = instants(spark, day(2), day(14), day(16))

    judged = freshness(facts_as_of(facts, described, grid), edges(spark)).orderBy("as_of")

    states = [row.state for row in judged.select("judgement.state").collect()]
    assert states == ["learning", "learning", "bad"]
