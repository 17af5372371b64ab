"""Rejected events and errors of the pipeline, as the API, the commands and the pages list them."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient
from sqlalchemy import Engine, insert

from collector.spool_file import SCHEMA
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from service.api.app import create_app
from service.queries import event_errors
from service.runtime.settings import Settings
from tests.service import shop
from tests.service.api.access.conftest import estate
from tests.service.commandline import answer, lineward
from tests.service.explorer.estate import MARKUP

__all__ = ["estate"]  # a fixture of the tests of access
_REJECTED, _ERRORS = "/api/v1/rejected-events", "/api/v1/pipeline-errors"
_SECRET = b'{"url": "postgres://ada:hunter2@db/shop"}'
_ADDED = """
INSERT INTO rejected (received_at, reason, path, detail, body, body_bytes, origin)
VALUES (?, ?, ?, ?, ?, ?, 'http')
"""


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    """Make a spool with three rejected bodies and an event that the pipeline could not read."""
    path = tmp_path / "spool.db"
    rows = [
        (shop.at(1), "invalid_event", "run.runId", "expected a UUID, got 'x'", _SECRET, 41),
        (shop.at(2), "too_large", None, "larger than 1 MiB", b"{" * 10, 2_000_000),
        (shop.at(3), "not_json", None, MARKUP, MARKUP.encode() + b"\xff\0", 30),
    ]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(SCHEMA)
        connection.executemany(_ADDED, rows)
        event = (8, b"hash", shop.at(1), "http", "run", _SECRET)
        names = "seq, body_hash, received_at, origin, kind, body"
        connection.execute(f"INSERT INTO event ({names}) VALUES (?, ?, ?, ?, ?, ?)", event)  # noqa: S608
    return path


@pytest.fixture
def client(embedded: Engine, spool: Path) -> Iterator[TestClient[Any]]:
    """Serve the API over a catalog with two errors, beside that spool."""
    shop.fill(embedded)
    rows = [
        {"spool_seq": 7, "reason": "core_unreadable", "detail": "eventTime: none"},
        {"spool_seq": 8, "reason": "partly_unreadable", "detail": "outputs: too many"},
    ]
    with write_transaction(embedded) as connection:
        more = {"is_history": False, "landed_at": shop.at(4)}
        connection.execute(insert(tables.pipeline_error), [row | more for row in rows])
    settings = Settings(data_dir=spool.parent)
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        yield client


def test_a_rejected_event_is_listed_with_path_and_body(client):
    """List the newest first; a body that is stored in part cannot be posted again."""
    found = client.get(_REJECTED).json()["events"]

    assert [(one["number"], one["is_whole"]) for one in found] == [
        (3, True),
        (2, False),
        (1, True),
    ]
    assert found[2] == {
        "number": 1,
        "received_at": "2026-11-20T01:00:00.000Z",
        "origin": "http",
        "reason": "invalid_event",
        "path": "run.runId",
        "detail": "expected a UUID, got 'x'",
        "body_bytes": 41,
        "is_whole": True,
        "body": '{"url": "postgres://[redacted]@db/shop"}',
    }


def test_lists_are_filtered_by_reason_and_continue(client):
    """Lead on by a cursor of the same request."""
    first = client.get(f"{_REJECTED}?limit=2").json()
    second = client.get(f"{_REJECTED}?limit=2&cursor={first['next_cursor']}").json()
    large = client.get(f"{_REJECTED}?reason=too_large").json()

    assert first["partial_reason"] == "2 shown; older ones exist"
    assert [one["number"] for one in second["events"]] == [1]
    assert [one["number"] for one in large["events"]] == [2]
    assert client.get(f"{_REJECTED}?cursor={first['next_cursor']}&reason=x").status_code == 400


def test_an_error_of_the_pipeline_has_its_body_while_the_spool_has_it(client):
    """Give the path in the detail."""
    newest, older = client.get(_ERRORS).json()["errors"]

    assert newest == {
        "spool_seq": 8,
        "landed_at": "2026-11-20T04:00:00.000Z",
        "reason": "partly_unreadable",
        "detail": "outputs: too many",
        "is_history": False,
        "body": '{"url": "postgres://[redacted]@db/shop"}',
    }
    assert (older["spool_seq"], older["body"]) == (7, None)
    page = client.get(f"{_ERRORS}?limit=1").json()
    rest = client.get(f"{_ERRORS}?limit=1&cursor={page['next_cursor']}").json()
    assert [one["spool_seq"] for one in rest["errors"]] == [7]


def test_pages_show_the_same_and_the_command_that_requeues(client):
    """Show no body as markup; the first page leads to both lists."""
    rejected, errors = client.get("/rejected-events").text, client.get("/pipeline-errors").text
    first = client.get("/").text

    assert "lineward act requeue-rejected 3 --yes" in rejected
    assert "run.runId" in rejected
    assert MARKUP not in rejected
    assert "outputs: too many" in errors
    assert "in the lake" in errors
    assert "hunter2" not in rejected + errors
    assert '<a href="/rejected-events">3</a>' in first
    assert '<a href="/pipeline-errors">2</a>' in first


def test_the_commands_print_what_the_api_answers(client, spool):
    """Compare JSON and table."""
    folder = ("--data-dir", str(spool.parent))
    catalog = {"catalog": None}

    assert answer("rejected", *folder, **catalog) == client.get(_REJECTED).json()
    assert answer("pipeline-errors", *folder, **catalog) == client.get(_ERRORS).json()
    assert "run.runId" in lineward("rejected", *folder).stdout
    assert "outputs: too many" in lineward("pipeline-errors", *folder).stdout


def test_without_a_spool_the_answer_names_the_collector_s_service(estate):
    """Say where to ask: the service of a split installation is not beside the collector."""
    found = estate.get(_REJECTED).json()

    assert (found["events"], found["partial"]) == ([], True)
    assert "ask where the collector runs" in found["partial_reason"]


def test_command_without_a_spool_fails_and_names_its_path(tmp_path):
    """Exit with 4: "no rejected events" would be wrong where the collector runs elsewhere."""
    done = lineward("rejected", "--data-dir", str(tmp_path))

    assert (done.returncode, done.stdout) == (4, "")
    assert f"no spool at {tmp_path / 'spool.db'}" in done.stderr


@pytest.mark.parametrize("path", [_REJECTED, _ERRORS, "/rejected-events", "/pipeline-errors"])
def test_only_an_admin_gets_the_lists(estate, path):
    """Show bodies to admins only: a body may name any dataset."""
    assert [estate.get(path, who).status_code for who in ("boss", "clerk", "shop")] == [
        200,
        403,
        403,
    ]


@pytest.mark.parametrize(
    "body",
    [
        b'{"password":"hunter2',
        rb'{"url":"https:\/\/bob:hunter2@api\/x"}',
        rb'{"pass\u0077ord":"hunter2"}',
        '{"password": "hunter2"}'.encode("utf-16"),
    ],
    ids=["cut", "escaped slashes", "escaped letter", "utf-16"],
)
def test_a_secret_in_a_malformed_body_is_replaced(body):
    """Redact the body, which no parser can read."""
    shown = event_errors._shown(body)  # noqa: SLF001 - as all lists show a body

    assert "hunter2" not in shown
    assert "[redacted]" in shown
