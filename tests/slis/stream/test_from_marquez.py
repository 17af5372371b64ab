"""Events that a Marquez returns: equal to those it received."""

import json

import pytest

from service.ingest.marquez.event_identity import pulled_of, valid_core
from tests.fakes.marquez import FakeMarquez
from tests.slis.stream.spools import read, rows, run_event


def _pull_event(event):
    """Return the event as pulled: with other keys and order, and then sorted again."""
    fake = FakeMarquez(seed=1)
    fake.store([event])
    answer = json.loads(fake.events("limit=1").body)
    return pulled_of(json.dumps(answer["events"][0]).encode()).body


def test_an_event_that_comes_back_is_the_same_to_the_pipeline(lander, catalog, at):
    """Count an event once that was forwarded and pulled, or sent to both by its producer."""
    event = run_event("COMPLETE", at(8), inputs=["a", "b"], outputs=["out"], facets={"x": {}})
    returned = _pull_event(event)

    first = lander.land(event)
    second = lander.land(returned, origin="marquez")

    assert returned != json.dumps(event).encode()
    assert (first.duplicates, second.duplicates) == (0, 1)
    assert rows(catalog, "SELECT count(*), sum(CAST(is_history AS INTEGER)) FROM event") == [(1, 0)]


@pytest.mark.parametrize(("origin", "is_history"), [("marquez", 0), ("marquez-history", 1)])
def test_pulled_events_count_and_loaded_events_do_not(lander, catalog, at, origin, is_history):
    """Count a backfill of Marquez as history, like one of files, and a live event as live."""
    lander.land(run_event("COMPLETE", at(8), outputs=["out"]), origin=origin)

    found = rows(catalog, "SELECT CAST(is_history AS INTEGER) FROM event")
    assert found == [(is_history,)]


_SAME = (
    {"eventType": "complete"},
    {"eventTime": "2026-11-21T09:00:00.000000999+01:00"},
    {"producer": "https://example.org/another"},
    {"inputs": [{"namespace": "n", "name": "b"}, {"namespace": "n", "name": "a"}]},
    {"job": {"namespace": "j", "name": "app"}},
)
_OTHERS = (
    {"eventType": "START"},
    {"eventTime": "2026-11-21T08:00:00.000001Z"},
    {"outputs": []},
    {"job": {"namespace": "j", "name": "another"}},
    {"run": {"runId": "another"}},
)


def test_the_puller_and_the_pipeline_identify_events_alike(at):
    """Identify alike: otherwise one would drop an event that the other counts."""
    event = run_event("COMPLETE", at(8), inputs=["a", "b"], outputs=["out"])
    bodies = [json.dumps(event | change).encode() for change in ({}, *_SAME, *_OTHERS)]
    parsed = [read(body, at(12)) for body in bodies]

    pipelines = [(event.event_time, event.event_key) for event in parsed]
    pullers = [valid_core(body).identity() for body in bodies]

    expected = [True] * (1 + len(_SAME)) + [False] * len(_OTHERS)
    assert [key == pipelines[0] for key in pipelines] == expected
    assert [key == pullers[0] for key in pullers] == expected
