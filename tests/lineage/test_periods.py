"""Periodic work, by a clock of the test."""

import pytest

from lineage.periods import Period


class Seconds:
    """Monotonic clock that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        """Count seconds."""
        return self.now


def _fail(period):
    with pytest.raises(OSError, match="disk full"), period.turn():
        raise OSError("disk full")


def test_work_is_due_at_once_and_then_each_period():
    """Count from the beginning of a turn."""
    seconds = Seconds()
    period = Period(3_600, seconds)
    assert period.is_due()
    with period.turn():
        seconds.now += 10
        assert period.is_due()
    assert not period.is_due()
    seconds.now += 3_589
    assert not period.is_due()
    seconds.now += 1
    assert period.is_due()


def test_after_failures_the_pauses_grow_to_a_period():
    """Wait a minute, two, four …; begin again after a success."""
    seconds = Seconds()
    period = Period(600, seconds)
    pauses = []
    for _ in range(6):
        _fail(period)
        began = seconds.now
        while not period.is_due():
            seconds.now += 1
        pauses.append(seconds.now - began)
    with period.turn():
        pass
    seconds.now += 600
    _fail(period)

    assert pauses == [60, 120, 240, 480, 600, 600]
    seconds.now += 60
    assert period.is_due()
