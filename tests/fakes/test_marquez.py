"""Fake Marquez: it has the traps of the real one, for code that must avoid them."""

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest

from tests.fakes.marquez import FakeMarquez, minutes, run_event
from tests.suite.http_client import CLIENT

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
_JSON = {"Content-Type": "application/json"}


@pytest.fixture
def marquez() -> Iterator[FakeMarquez]:
    fake = FakeMarquez().start()
    yield fake
    fake.stop()


def _post(marquez: FakeMarquez, body: object, **headers: str) -> int:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    url = f"{marquez.url}/api/v1/lineage"
    return CLIENT.post(url, content=content, headers=_JSON | headers).status_code


def _is_gzip(body: object) -> bool:
    return isinstance(body, bytes) and body.startswith(b"\x1f\x8b")


def _get(marquez: FakeMarquez, **params: str) -> list[str]:
    answer = CLIENT.get(f"{marquez.url}/api/v1/events/lineage", params=params)
    return [event["run"]["runId"][-3:] for event in answer.raise_for_status().json()["events"]]


def _event_without(name: str) -> dict[str, object]:
    return {key: value for key, value in run_event(1, at=NOON).items() if key != name}


@pytest.mark.parametrize(
    ("body", "status", "stored"),
    [
        (run_event(1, at=NOON), 201, 1),
        (gzip.compress(json.dumps(run_event(1, at=NOON)).encode()), 201, 1),
        (b"{", 500, 0),
        ([run_event(1, at=NOON)], 500, 0),
        (run_event(1, at=NOON) | {"eventTime": "soon"}, 500, 0),
        (run_event(1, at=NOON, job={"namespace": "j", "name": "n", "facets": {"x": 1}}), 500, 0),
        (_event_without("eventType"), 500, 1),
        (_event_without("run"), 422, 0),
        (b"", 422, 0),
    ],
    ids=["event", "gzip", "cut", "list", "time", "facet", "no type", "no run", "empty"],
)
def test_bad_input_is_answered_as_measured(marquez, body, status, stored):
    """Answer 500 for malformed JSON, and 500 without an eventType, although the row is stored."""
    encoding = {"Content-Encoding": "gzip"} if _is_gzip(body) else {}

    assert _post(marquez, body, **encoding) == status
    assert len(marquez.rows) == stored


def test_the_same_body_twice_is_two_rows(marquez):
    """Store both, as the real one does."""
    assert [_post(marquez, run_event(1, at=NOON)) for _ in range(2)] == [201, 201]

    assert _get(marquez) == ["001", "001"]


def test_events_later_than_2030_are_hidden_by_default(marquez):
    """Exclude the default of `before`; include `after`."""
    marquez.store([run_event(1, at=NOON), run_event(2, at=NOON.replace(year=2099))])

    assert _get(marquez) == ["001"]
    assert _get(marquez, before="9999-01-01T00:00:00Z") == ["002", "001"]
    assert _get(marquez, before=NOON.isoformat()) == []
    assert _get(marquez, after=NOON.isoformat()) == ["001"]


def test_pages_repeat_and_skip_ties_and_hold_run_events_only(marquez):
    """Reorder a tie group over a page's end each time; `totalCount` counts all."""
    schema = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/JobEvent"
    marquez.store([run_event(n, at=NOON) for n in range(200)])
    marquez.store([run_event(999, at=NOON, schemaURL=schema)])

    pages = _get(marquez, sortDirection="asc") + _get(marquez, sortDirection="asc", offset="100")

    assert len(pages) == 200
    assert len(set(pages)) < 200
    whole = CLIENT.get(f"{marquez.url}/api/v1/events/lineage", params={"limit": "5000"}).json()
    assert (len(whole["events"]), whole["totalCount"]) == (200, 201)


def test_events_are_returned_changed(marquez):
    """Add keys in another order: the bytes are not comparable."""
    marquez.store([run_event(1, at=NOON)])

    answers = [CLIENT.get(f"{marquez.url}/api/v1/events/lineage").content for _ in range(20)]

    facets = json.loads(answers[0])["events"][0]["job"]["facets"]
    assert facets == {"documentation": None, "sourceCodeLocation": None}
    assert len(set(answers)) > 1


def test_a_restart_keeps_the_port_and_the_rows(marquez):
    """Serve a client that tries again."""
    marquez.store([run_event(1, at=NOON + minutes(1))])
    url = marquez.url
    marquez.stop()
    with pytest.raises(httpx.TransportError):
        CLIENT.get(url)
    marquez.start()

    assert marquez.url == url
    assert _get(marquez) == ["001"]
