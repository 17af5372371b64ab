"""Chains that run by the clock, with injected faults."""

import json
from itertools import pairwise

import pytest

from lab.gameday.injected import Injected
from lab.gameday.live.estate import PACE, WritePace
from lab.gameday.live.running import RunningChains
from lab.gameday.posting import format_instant
from lineage.process.clock import SECOND_MICROS
from tests.lab.gameday.live.days import (
    BEGINS,
    ESTATE,
    at,
    build_chains,
    count_reported,
    list_written,
)

FIRST, SECOND, THIRD, MART = (each.name for each in ESTATE.datasets[:4])
FOREVER = 2**62


def injected(kind, job, second, variant="", failing=()):
    return Injected(kind, (job,), at(second), FOREVER, variant, failing)


def test_nothing_comes_before_its_time():
    """Return each event once, and only when it is due."""
    running = build_chains()
    early, late = running.until(at(30)), running.until(at(60))

    assert not set(early) & set(late)
    for body in early:
        assert json.loads(body)["eventTime"] <= "2026-11-18T11:07:10.001Z"


@pytest.mark.parametrize("pace", [PACE, WritePace(60)])
def test_each_dataset_is_written_in_each_period_well_within_its_limit(pace):
    """Check that a chain follows its source."""
    running = RunningChains(ESTATE, BEGINS, pace)
    running.until(at(50 * pace.period_seconds))

    for writes in running.writes:
        gaps = [after.written_at - before.written_at for before, after in pairwise(writes)]
        assert len(writes) >= 50 - 3
        assert max(gaps) < (pace.limit_seconds - 15) * SECOND_MICROS


def test_a_killed_job_fails_and_its_readers_wait():
    """Let its source go on, but not the rest of the chain; other chains go on."""
    running = build_chains()
    running.until(at(60))
    running.inject([injected("killed_job", 1, 60, "fail")])
    running.until(at(90))
    bodies = running.until(at(150))

    assert not {SECOND, THIRD, MART} & written_correctly(bodies)
    assert FIRST in written_correctly(bodies)
    assert ESTATE.datasets[5].name in written_correctly(bodies)
    assert count_reported(bodies)["FAIL", SECOND] >= 3


def written_correctly(bodies):
    """Skip those that a COMPLETE after a FAIL names."""
    return {name for name in list_written(bodies) if not count_reported(bodies)["FAIL", name]}


def test_a_reader_fails_only_after_a_new_schema():
    """Accept a run that reads an earlier write; otherwise it would fail before its cause."""
    before, running = build_chains(), build_chains()
    before.until(at(60))
    # Start while a run that still writes the old schema is under way.
    begins = before.writes[1][-1].begun_at + SECOND_MICROS
    running.until(begins)
    running.inject([Injected("schema_drift", (1,), begins, FOREVER, "", (2,))])
    events = [json.loads(body) for body in running.until(at(120))]

    drifted = min(one.written_at for one in running.writes[1] if one.begun_at >= begins)
    failed = [
        event["eventTime"]
        for event in events
        if event["eventType"] == "FAIL" and event["outputs"][0]["name"] == THIRD
    ]
    assert len(failed) >= 3
    assert min(failed) > format_instant(drifted).decode()


def test_a_listener_that_is_silent_stops_no_run():
    """Write its dataset without events; its readers go on."""
    running = build_chains()
    running.until(at(60))
    running.inject([injected("silent_listener", 1, 60)])
    running.until(at(80))
    count = len(running.writes[1])
    bodies = running.until(at(150))

    assert SECOND not in list_written(bodies)
    assert len(running.writes[1]) == count
    assert {FIRST, THIRD, MART} <= list_written(bodies)


def test_a_source_that_stops_delays_all_downstream():
    """Let it go on after the fix."""
    running = build_chains()
    running.until(at(60))
    late = injected("late_source", 0, 60)
    running.inject([late])
    running.until(at(100))
    assert not {FIRST, SECOND, THIRD, MART} & list_written(running.until(at(150)))

    running.inject([Injected(late.kind, late.jobs, late.starts_at, at(150))])
    assert {FIRST, SECOND, THIRD, MART} <= list_written(running.until(at(210)))


def test_each_dataset_is_dropped_at_the_end():
    """Drop each dataset, also of a job whose listener was silent."""
    running = build_chains()
    running.until(at(60))
    running.inject([injected("silent_listener", 1, 60)])
    running.stop(at(70))
    dropped = [json.loads(body) for body in running.until(at(100))]

    changes = {
        (out["name"], out["facets"]["lifecycleStateChange"]["lifecycleStateChange"])
        for event in dropped
        for out in event["outputs"]
    }
    assert changes == {(each.name, "DROP") for each in ESTATE.datasets}
    assert running.until(at(900)) == []
