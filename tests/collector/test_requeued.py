"""Rejected events that are posted again: one commit stores the event and removes the rejection."""

import sqlite3
from contextlib import closing

import pytest

from collector import spool as spool_module
from tests.collector import bodies
from tests.collector.running import Collector


def _rejected_rows(collector: Collector) -> list[tuple[int, bytes]]:
    return collector.rows("SELECT id, body FROM rejected ORDER BY id")


def _rows(collector: Collector, body: bytes) -> list[str]:
    rows = collector.rows("SELECT origin, body FROM event")
    return [origin for origin, stored in rows if stored == body]


@pytest.fixture
def rejected_event(start):
    """Start a collector that rejected a long name, and accepts such names now."""
    collector = start(max_name_bytes=256).ready()
    body = bodies.body(bodies.run_event(job={"namespace": "shop", "name": "n" * 300}))
    assert collector.post(body).status_code == 400
    collector.kill()
    return start(max_name_bytes=2_048, port=collector.port).ready(), body


def test_an_accepted_event_is_no_longer_rejected(rejected_event):
    """Store it with its earlier origin."""
    collector, body = rejected_event
    ((number, _),) = _rejected_rows(collector)

    answer = collector.post_as_own(body, lineward_requeued=str(number), lineward_origin="http")

    assert answer.status_code == 201
    assert _rejected_rows(collector) == []
    assert _rows(collector, body) == ["http"]


def test_an_event_that_is_rejected_again_is_stored_once(start):
    """Keep the row, and count it once."""
    collector = start().ready()
    body = bodies.body(bodies.run_event(run=None))
    collector.post(body)
    before = _rejected_rows(collector)

    answer = collector.post_as_own(body, lineward_requeued=str(before[0][0]))

    assert (answer.status_code, answer.json()["path"]) == (400, "$.run")
    assert _rejected_rows(collector) == before


def test_a_number_alone_removes_no_rejection(rejected_event):
    """Store another event with that number, and keep the rejected one."""
    collector, body = rejected_event
    ((number, _),) = _rejected_rows(collector)
    other = bodies.new_body()

    assert collector.post_as_own(other, lineward_requeued=str(number)).status_code == 201
    assert _rejected_rows(collector) == [(number, body)]


def test_without_the_body_in_the_condition_a_number_removes_it():
    """Run the mutant: remove the body from the statement."""
    statement = spool_module.STRIKE_REJECTED
    assert "body" in statement
    with closing(sqlite3.connect(":memory:")) as spool:
        spool.execute("CREATE TABLE rejected (id INTEGER, body BLOB)")
        spool.execute("INSERT INTO rejected VALUES (1, x'00')")
        spool.execute(statement, (1, b"another"))
        kept = spool.execute("SELECT count(*) FROM rejected").fetchone()[0]
        spool.execute(statement.replace(" AND body = ?", ""), (1,))
        struck = spool.execute("SELECT count(*) FROM rejected").fetchone()[0]

    assert (kept, struck) == (1, 0)


@pytest.mark.parametrize("number", ["", "x", "-1", "1.0", "9" * 19])
def test_an_invalid_number_is_a_400(start, number):
    """Name the header, and store nothing."""
    collector = start().ready()
    body = bodies.new_body()

    answer = collector.post_as_own(body, lineward_requeued=number)

    assert answer.status_code == 400
    assert "Lineward-Requeued" in answer.json()["detail"]
    assert _rows(collector, body) == []
