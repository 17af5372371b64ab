"""Raw events are listed out of the lake."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient
from sqlalchemy import Engine, insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.process.clock import to_micros
from service.api.app import create_app
from service.queries.marquez_api import events
from service.runtime.settings import Settings
from tests.slis.lake.lakes import event_row, lay, write, writer_of

_FIRST = datetime(2026, 11, 20, 22, tzinfo=UTC)
_COUNT = 6  # one an hour, into the next day


@pytest.fixture
def client(embedded: Engine, tmp_path: Path) -> Iterator[TestClient[Any]]:
    """Serve the API beside a lake of two batches and of one that is not committed."""
    writer = writer_of(embedded, tmp_path)
    for after, last in ((0, 4), (4, _COUNT)):
        lay(writer, *_rows(range(after + 1, last + 1)))
    write(writer, *_rows(range(_COUNT + 1, _COUNT + 2)))
    rows = [_row(number) for number in range(1, _COUNT + 1)]
    with write_transaction(embedded) as connection:
        connection.execute(insert(tables.event), rows)
    url = embedded.url.render_as_string(hide_password=False)
    app = create_app(Settings(catalog_url=url, data_dir=tmp_path))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


def _time(number: int) -> datetime:
    return _FIRST + timedelta(hours=number - 1)


def _row(number: int) -> dict[str, Any]:
    flags = {"is_streaming": False, "is_history": False, "is_skewed": False}
    at = to_micros(_time(number))
    return {"event_time": at, "event_key": number, "landed_at": at, "last_seq": _COUNT, **flags}


def _body(number: int) -> bytes:
    run = {"runId": f"run-{number}", "facets": {"x": {"y": [None, 1.5]}}}
    return json.dumps({"eventTime": _time(number).isoformat(), "run": run}).encode()


def _rows(numbers: range, body: bytes | None = None) -> list[dict[str, Any]]:
    return [
        # The third is of a dataset.
        event_row(
            number,
            _time(number),
            kind="dataset" if number == 3 else "run",
            body=body or _body(number),
        )
        for number in numbers
    ]


def _list_run_ids(client: TestClient, **parameters: str | int) -> list[str]:
    answer = client.get("/api/v1/events/lineage", params=parameters)
    assert answer.status_code == 200, answer.text
    return [event["run"]["runId"] for event in answer.json()["events"]]


def test_events_are_unchanged_and_the_newest_come_first(client):
    """List run events of several days and batches; leave out other kinds and uncommitted ones."""
    answer = client.get("/api/v1/events/lineage").json()

    assert [event["run"]["runId"] for event in answer["events"]] == [
        *("run-6", "run-5", "run-4", "run-2", "run-1"),
    ]
    assert answer["events"][0] == json.loads(_body(6))
    assert (answer["totalCount"], answer["partial"]) == (6, False)  # of all kinds, as in Marquez


def test_secrets_of_an_event_are_redacted(client, embedded, tmp_path):
    """Answer without the password of a connection; the lake has the event as it was sent."""
    body = {"run": {"runId": "jdbc:mysql://(host=h,user=u,password=hunter22)/shop"}}
    rows = _rows(range(_COUNT + 2, _COUNT + 3), json.dumps(body).encode())
    lay(writer_of(embedded, tmp_path), *rows)

    assert "jdbc:mysql://(host=h,user=u,password=[redacted])/shop" in _list_run_ids(client)


def test_events_are_read_page_by_page_in_both_directions(client):
    """Read a page that crosses midnight."""
    pages = [_list_run_ids(client, limit=2, offset=offset) for offset in (0, 2, 4, 6)]

    assert pages == [["run-6", "run-5"], ["run-4", "run-2"], ["run-1"], []]
    assert _list_run_ids(client, limit=3, sortDirection="asc") == ["run-1", "run-2", "run-4"]
    assert _list_run_ids(client, limit=0) == []


def test_a_window_begins_at_its_first_time_and_ends_before_its_last(client):
    """Bound the window as Marquez does; the web page sends empty times."""
    window = {"after": _time(2).isoformat(), "before": _time(5).isoformat()}

    assert _list_run_ids(client, **window) == ["run-4", "run-2"]
    assert client.get("/api/v1/events/lineage", params=window).json()["totalCount"] == 3
    assert len(_list_run_ids(client, after="", before="")) == 5


def test_a_page_of_too_many_bytes_is_cut(client, monkeypatch):
    """Answer one event, however large."""
    monkeypatch.setattr(events, "MOST_BYTES", 150)

    answer = client.get("/api/v1/events/lineage").json()

    assert (len(answer["events"]), answer["partial"]) == (1, True)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("offset=10000", "set after and before"),
        ("after=yesterday", "after: expected a timestamp"),
        ("sortDirection=up", "sortDirection"),
    ],
)
def test_an_invalid_list_request_is_rejected(client, query, text):
    """Name the parameter and what to do."""
    answer = client.get(f"/api/v1/events/lineage?{query}")

    assert (answer.status_code, text in answer.json()["detail"]) == (400, True)
