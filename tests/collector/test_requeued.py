"""What was refused is posted again: taken, it is kept as refused no more, by the same commit."""

import sqlite3
from contextlib import closing

import pytest

from collector import spool as spool_module
from tests.collector import bodies
from tests.collector.running import Collector


def _rejected(collector: Collector) -> list[tuple[int, bytes]]:
    return collector.rows("SELECT id, body FROM rejected ORDER BY id")


def _rows(collector: Collector, body: bytes) -> list[str]:
    rows = collector.rows("SELECT origin, body FROM event")
    return [origin for origin, stored in rows if stored == body]


@pytest.fixture
def refused(start):
    """A collector that has refused a name as too long, and takes such names now."""
    collector = start(max_name_bytes=256).ready()
    body = bodies.body(bodies.run_event(job={"namespace": "shop", "name": "n" * 300}))
    assert collector.post(body).status_code == 400
    collector.kill()
    return start(max_name_bytes=2_048, port=collector.port).ready(), body


def test_what_is_taken_now_is_an_event_and_refused_no_more(refused):
    """With the origin that it had: an event of HTTP is one."""
    collector, body = refused
    ((number, _),) = _rejected(collector)

    answer = collector.post_as_reader(body, lineward_requeued=str(number), lineward_origin="http")

    assert answer.status_code == 201
    assert _rejected(collector) == []
    assert _rows(collector, body) == ["http"]


def test_what_is_refused_again_stays_as_it_is_and_is_there_once(start):
    """Neither lost, nor kept and counted a second time."""
    collector = start().ready()
    body = bodies.body(bodies.run_event(run=None))
    collector.post(body)
    before = _rejected(collector)

    answer = collector.post_as_reader(body, lineward_requeued=str(before[0][0]))

    assert (answer.status_code, answer.json()["path"]) == (400, "$.run")
    assert _rejected(collector) == before


def test_a_number_alone_strikes_nothing_off(refused):
    """Another event under that number is taken, and what was refused stays."""
    collector, body = refused
    ((number, _),) = _rejected(collector)
    other = bodies.new_body()

    assert collector.post_as_reader(other, lineward_requeued=str(number)).status_code == 201
    assert _rejected(collector) == [(number, body)]


def test_without_the_body_in_its_condition_it_would():
    """The mutant, in the spool itself."""
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
def test_what_is_no_number_is_a_400(start, number):
    """Said in words, and nothing is stored."""
    collector = start().ready()
    body = bodies.new_body()

    answer = collector.post_as_reader(body, lineward_requeued=number)

    assert answer.status_code == 400
    assert "Lineward-Requeued" in answer.json()["detail"]
    assert _rows(collector, body) == []
