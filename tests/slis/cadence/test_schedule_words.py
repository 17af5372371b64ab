"""Schedules and deadlines in words."""

import re

import pytest

from slis.cadence.schedule_words import rough_duration
from tests.slis.single_slis import learned_limits
from tests.slis.sli_frames import day, gaps, writes

_WEEKDAYS = [number for number in range(-27, 6) if (number + 6) % 7 < 5]
_HISTORIES = {
    1: [day(number, 0, 34 + number % 5) for number in range(-40, 6)],
    2: [day(0, hour, 12 + hour % 3) for hour in range(120)],
    3: [day(7 * number, 9) for number in range(-20, 1)],
    4: [day(number, 2) for number in _WEEKDAYS],
    5: [day(0, 17.3 * number) for number in range(8)],
}


@pytest.fixture(scope="module")
def texts(spark):
    """Return the explanations of the limits of five histories, by key."""
    rows = [
        {"dataset_key": key, "written_at": at} for key, each in _HISTORIES.items() for at in each
    ]
    learned = learned_limits(writes(spark, *rows), gaps(spark), as_of=day(6))
    return {row.dataset_key: row.explanation for row in learned.collect()}


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (1, r"Updated daily at about 00:36 \(± 1 min\); late after 0\d:\d\d\. Learned from "),
        (2, r"Updated hourly \(± 1 min\); late .* min after its time\. Learned from "),
        (
            3,
            r"Updated weekly on Sundays at about 09:00 \(± 0 s\); late after .*\. Learned",
        ),
        (4, r"Updated daily except Sat, Sun at about 02:00 \(± 0 s\); late after 0\d:\d\d\. "),
        (5, r"learning: 7 of 8 gaps between writes; late 14 d after a write$"),
    ],
)
def test_a_limit_is_explained_by_schedule_and_deadline(texts, key, words):
    """State the usual time, its spread and from when on the next write is late."""
    assert re.match(words, texts[key]), texts[key]


def test_a_duration_is_in_its_largest_unit():
    """Show one decimal unless the value is whole."""
    assert [rough_duration(value) for value in (0.4, 90, 5_400, 129_600)] == [
        "0 s",
        "1.5 min",
        "1.5 h",
        "1.5 d",
    ]
