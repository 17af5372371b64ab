"""Backlog of an evaluation: the time by which it is behind."""

from datetime import timedelta

from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import BEHIND_SINCE, EVENTS_WAIT_SINCE
from lineage.process.clock import from_micros
from slis.evaluation.publish import note_backlog
from slis.meta import read_meta_number
from tests.slis.sli_frames import day

NOON = day(8, 12)


def test_an_evaluation_that_lacks_old_events_is_behind_until_one_lacks_none(embedded):
    """Note the first of them; events of the last minute are on their way."""
    lags = [30, 90, 61, 60, None, 300]
    found = [_evaluate_with_lag(embedded, minute, lag) for minute, lag in enumerate(lags)]

    assert found == [None, 1, 1, None, None, 5]


def test_a_clock_that_was_ahead_does_not_hide_how_long_it_is_behind(embedded):
    """Count from now where the first was noted for a time that has not come."""
    _evaluate_with_lag(embedded, 60, 300)

    assert _evaluate_with_lag(embedded, 1, 300) == 1


def _evaluate_with_lag(engine, minute, lag):
    """Return the minute since which evaluations are behind."""
    as_of = NOON + timedelta(minutes=minute)
    waiting = None if lag is None else as_of - timedelta(seconds=lag)
    with write_transaction(engine) as connection:
        note_backlog(connection, as_of, waiting)
        assert (read_meta_number(connection, EVENTS_WAIT_SINCE) == 0) == (waiting is None)
        since = read_meta_number(connection, BEHIND_SINCE)
    return (from_micros(since) - NOON) // timedelta(minutes=1) if since else None
