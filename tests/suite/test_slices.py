"""Check that the cost of an event is kept apart from the cost of a start."""

import pytest

from tests.bench.slices import Cost, Mark, Measured


def test_the_start_is_no_part_of_an_event():
    """Compute the event's cost from later slices, and the start's from the first one."""
    marks = [
        Mark(100_000, Cost(20.0, 10.0, 5.0)),
        Mark(200_000, Cost(24.0, 18.0, 10.0)),
        Mark(400_000, Cost(34.0, 34.0, 20.0)),
    ]
    measured = Measured("scaled", marks)

    assert [(end, cost.total) for end, cost in measured.slices] == [
        (200_000, pytest.approx(170)),
        (400_000, pytest.approx(180)),
    ]
    assert measured.event.driver == pytest.approx(14 / 0.3)
    assert measured.event.total == pytest.approx(53 / 0.3)
    assert measured.start_seconds == pytest.approx(35 - 53 / 3)
    assert measured.spread == pytest.approx(180 / 170)
