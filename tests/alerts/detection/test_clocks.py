"""Incidents while the clock is ahead, and after it was set back."""

import pytest
from sqlalchemy import delete, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from tests.alerts.detection.catalog_builder import DAY, dataset, micros
from tests.alerts.detection.conftest import NOON

pytestmark = pytest.mark.postgres_nightly

_JUMPS = [60, 3_600, 30 * DAY]


def _set_back(watched, seconds):
    """Set the clock back, and undo the evaluations ahead of it, as the pipeline does."""
    table = tables.evaluation
    with write_transaction(watched.engine) as connection:
        connection.execute(delete(table).where(table.c.as_of > micros(seconds)))


def _write(watched, name, at):
    table = tables.dataset_activity
    with write_transaction(watched.engine) as connection:
        mine = update(table).where(table.c.dataset_key == dataset(name))
        connection.execute(mine.values(last_written_at=micros(at)))


@pytest.mark.parametrize("jump", _JUMPS)
def test_a_fault_found_under_a_clock_ahead_opens(failed, jump):
    """Open a fault that was first found at a time in the future."""
    failed.at(NOON + 120 + jump)
    _set_back(failed, NOON + 130)

    assert failed.at(NOON + 130) == []
    assert failed.until(NOON + 240) == ["opened"]
    assert failed.one.seen_at <= micros(NOON + 240)


@pytest.mark.postgres_always
@pytest.mark.parametrize("jump", _JUMPS)
def test_an_incident_opened_under_a_clock_ahead_is_resolved(failed, jump):
    """Count the recovery from the present clock."""
    failed.at(NOON + 120 + jump)
    failed.until(NOON + 200 + jump)
    _set_back(failed, NOON + 210)
    failed.at(NOON + 210)
    for name in ("raw", "core"):
        failed.estate.say(name, "good")
        _write(failed, name, NOON + 215)

    assert failed.until(NOON + 300)[-1] == "resolved"


def test_a_clock_set_back_for_an_hour_stops_nothing(failed):
    """Open faults although the first step is later than all that follow."""
    failed.at(NOON + 120)
    _set_back(failed, NOON - 3_480)
    failed.at(NOON - 3_480)

    assert failed.until(NOON - 3_400) == ["opened"]
