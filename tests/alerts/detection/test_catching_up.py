"""Incidents after an outage of Lineward, which wait until all events have landed."""

import pytest

from tests.alerts.detection.conftest import NOON

pytestmark = pytest.mark.postgres_nightly


@pytest.fixture
def back(watched):
    """Stop the pipeline for four minutes, and let it come back with its backlog."""
    watched.estate.add("revenue", tier="critical")
    watched.at(NOON)
    events = [what for at in range(NOON + 15, NOON + 240, 15) for what in watched.look(at)]
    assert events == ["opened"]  # the pipeline
    watched.estate.note(events_wait_since=NOON + 5, behind_since=NOON + 240)
    return watched


def test_a_dataset_that_is_good_after_the_backlog_opens_nothing(back):
    """Hold what an evaluation finds while events wait: its run and its lineage are among them."""
    back.estate.say("revenue", "bad", "edge_missing", sli="M4")
    assert back.until(NOON + 360) == ["frozen"]

    back.estate.note(events_wait_since=None, behind_since=None)
    back.estate.say("revenue", "good", sli="M4")

    assert back.until(NOON + 480) == ["thawed", "resolved"]
    assert [row.root_entity for row in back.rows()] == ["service"]


def test_a_dataset_that_is_bad_after_the_backlog_opens(back):
    """Hold it for 30 s from then on."""
    back.estate.say("revenue", "bad", "edge_missing", sli="M4")
    back.until(NOON + 360)
    back.estate.note(events_wait_since=None, behind_since=None)

    assert back.until(NOON + 390) == ["thawed"]
    assert "opened" in back.until(NOON + 420)


def test_a_pipeline_that_stays_behind_is_a_page(watched):
    """Hold incidents for no longer than 15 minutes without a person who knows."""
    watched.at(NOON)
    watched.estate.note(events_wait_since=NOON - 300, behind_since=NOON)
    assert watched.until(NOON + 900) == []
    assert watched.until(NOON + 990) == ["opened"]

    assert (watched.one.severity, watched.one.root_name) == ("page", "pipeline")
    since = "2026-11-21 11:55:00 UTC"
    assert watched.one.evidence == f"events received since {since} are not processed yet"


@pytest.mark.parametrize(("started", "whats"), [(NOON + 3700, []), (None, ["opened"])])
def test_a_service_that_starts_after_an_outage_waits_for_the_pipeline(watched, started, whats):
    """Give the pipeline as long to start as to evaluate; one that stays silent is a page."""
    watched.at(NOON)
    watched.restart()
    events = [what for at in range(NOON + 3600, NOON + 3700, 15) for what in watched.look(at)]
    assert events == []
    if started:
        watched.estate.evaluate(started)

    assert [what for at in (NOON + 3725, NOON + 3760) for what in watched.look(at)] == whats
    evidence = [row.evidence for row in watched.rows()]
    assert evidence == ["the last evaluation was at 2026-11-21 12:00:00 UTC"] * len(whats)
