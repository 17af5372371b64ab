"""New inputs of a regulated dataset: neither declared nor seen before."""

from typing import Any

from slis.indicators.quality import unexpected_source as module
from slis.indicators.quality.schemas import NEW_SOURCES
from slis.indicators.quality.unexpected_source import unexpected_sources
from tests.slis.sli_frames import day, frame, instants

_SOURCE = {"dataset_key": 1, "namespace": "shop", "name": "raw.cards", "job_name": "clean"}
_SOURCE |= {"first_seen_at": day(9), "writes_before": 8}


def _find_sources(spark, *rows: dict[str, Any], at=None):
    fresh = frame(spark, NEW_SOURCES, [{**_SOURCE, **row} for row in rows])
    found = unexpected_sources(fresh, instants(spark, at or day(10)))
    return {row.dataset_key: row.evidence for row in found.collect()}


def test_a_new_input_is_shown_with_the_job_and_since_when(spark):
    """Let the on-call engineer declare it, or stop it."""
    assert _find_sources(spark, {}, {"name": "raw.agents"}) == {
        1: "made of shop raw.agents by job clean, first seen 2026-11-10 00:00:00 UTC; "
        "shop raw.cards by job clean, first seen 2026-11-10 00:00:00 UTC, which nobody declared"
    }


def test_a_dataset_that_is_new_itself_has_no_new_input(spark):
    """Report nothing: seven writes are too short a history."""
    assert _find_sources(spark, {"writes_before": 7}) == {}


def test_an_unexpected_source_is_reported_for_a_week(spark):
    """Report it from its first read on, not before."""
    assert set(_find_sources(spark, {}, at=day(15, 23))) == {1}
    assert _find_sources(spark, {}, at=day(16, 1)) == {}
    assert _find_sources(spark, {}, at=day(8)) == {}
    assert _find_sources(spark) == {}


def test_without_the_bound_on_its_history_any_first_run_would_be_unexpected(spark, monkeypatch):
    """Run the mutant."""
    monkeypatch.setattr(module, "LEAST_WRITES", 0)

    assert set(_find_sources(spark, {"writes_before": 0})) == {1}
