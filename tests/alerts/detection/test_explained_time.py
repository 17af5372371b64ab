"""Bad time that open incidents explain, in the unit and steps of the counters."""

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from tests.alerts.detection.catalog_builder import micros

pytestmark = pytest.mark.postgres_nightly

NOON = 12 * 3600


def _evaluate(watched, previous, at, *, is_seen=True):
    """Store an evaluation that follows another one; the service is down if it is not seen."""
    row = {"as_of": micros(at), "previous_as_of": micros(previous), "last_seq": 0, "datasets": 0}
    with write_transaction(watched.engine) as connection:
        connection.execute(insert(tables.evaluation).values(**row, policy_hash="", seconds=0.0))
    if is_seen:
        watched.look(at)


def _explained_seconds(watched):
    found = watched.rows(tables.sli_explained)
    return {(row.sli, row.tier): row.value for row in found if row.value}


def test_bad_seconds_are_explained_from_the_opening_on(watched):
    """Count two datasets for fifteen seconds, without the thirty before the notification."""
    watched.estate.add("raw", "core")
    watched.estate.chain("raw", "core")
    watched.estate.fail("raw", NOON)
    watched.estate.say("raw", "bad", "job_failed", limit_seconds=NOON + 1.0)
    watched.estate.say("core", "bad", "upstream_late", limit_seconds=NOON + 1.0)
    for at in range(NOON + 15, NOON + 60, 15):
        _evaluate(watched, at - 15, at)
    assert _explained_seconds(watched) == {}

    _evaluate(watched, NOON + 45, NOON + 60)
    assert _explained_seconds(watched) == {("M2", "important"): 30.0}


@pytest.mark.postgres_always
def test_a_long_pause_counts_for_a_minute_as_in_the_counters(watched):
    """Count one minute of a pause, since the rest of it is unknown."""
    watched.estate.add("raw")
    watched.estate.say("raw", "bad", "late", limit_seconds=NOON + 1.0)
    for at in (NOON + 15, NOON + 45):
        _evaluate(watched, at - 15, at)
    _evaluate(watched, NOON + 45, NOON + 645)

    assert _explained_seconds(watched) == {("M2", "important"): 60.0}


def test_every_series_is_there_from_the_beginning(watched):
    """Begin each series at 0: Prometheus sees no growth in a series that starts with a value."""
    watched.estate.add("raw")
    _evaluate(watched, NOON, NOON + 15)
    series = {(row.sli, row.tier): row.value for row in watched.rows(tables.sli_explained)}

    assert set(series.values()) == {0.0}
    assert {("M1", "critical"), ("M2", "optional"), ("M3a", "regulated")} <= series.keys()


def test_an_evaluation_is_counted_once(watched):
    """Count no evaluation again after a restart."""
    watched.estate.add("raw")
    watched.estate.say("raw", "bad", "late", limit_seconds=NOON + 1.0)
    for at in (NOON + 15, NOON + 45, NOON + 60):
        _evaluate(watched, at - 15, at)
    before = _explained_seconds(watched)
    watched.restart()
    watched.look(NOON + 61)

    assert _explained_seconds(watched) == before != {}


@pytest.mark.parametrize("minutes", [1, 3, 20])
def test_after_a_pause_only_what_was_bad_by_then_is_explained(watched, minutes):
    """Explain nothing in an hour without the service before the dataset turned bad again."""
    watched.estate.add("raw")
    watched.estate.say("raw", "bad", "late", limit_seconds=NOON + 1.0)
    for at in (NOON + 15, NOON + 45):
        _evaluate(watched, at - 15, at)
    again = NOON + 45 + 3600 - minutes * 60
    watched.estate.say("raw", "bad", "late", limit_seconds=NOON + 1.0, since=again)
    for at in range(NOON + 60, NOON + 45 + 3600 + 1, 15):
        _evaluate(watched, at - 15, at, is_seen=False)
    watched.look(NOON + 45 + 3600)

    assert _explained_seconds(watched) == {("M2", "important"): minutes * 60.0 + 15.0}


def test_a_member_that_joined_in_a_pause_is_explained_from_then_on(watched):
    """Explain the new member from when it turned bad, while the service was down."""
    watched.estate.add("raw", "core")
    watched.estate.chain("raw", "core")
    watched.estate.fail("raw", NOON)
    watched.estate.say("raw", "bad", "job_failed", limit_seconds=NOON + 1.0)
    for at in (NOON + 15, NOON + 45):
        _evaluate(watched, at - 15, at)
    watched.estate.say("core", "bad", "upstream_late", limit_seconds=NOON + 1.0, since=NOON + 70)
    for at in (NOON + 60, NOON + 75, NOON + 90):
        _evaluate(watched, at - 15, at, is_seen=False)
    watched.look(NOON + 91)
    assert _explained_seconds(watched) == {("M2", "important"): 45.0}

    _evaluate(watched, NOON + 90, NOON + 105)
    assert _explained_seconds(watched) == {("M2", "important"): 75.0}


def test_a_failed_run_explains_no_bad_time_of_another_fault(watched):
    """Keep its dataset in the incident without calling it bad."""
    watched.estate.add("raw")
    watched.estate.fail("raw", NOON)
    for at in range(NOON + 15, NOON + 75, 15):
        _evaluate(watched, at - 15, at)
    assert len(watched.rows(tables.incident_member)) == 1
    watched.estate.say("raw", "bad", "metadata_missing", sli="M3a", since=NOON + 61)
    _evaluate(watched, NOON + 60, NOON + 75)
    _evaluate(watched, NOON + 75, NOON + 90)

    assert _explained_seconds(watched) == {}
