"""Joins of evidence and events: when they run, and after a join that was cut short."""

from datetime import timedelta

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from slis.evidence import scan
from tests.slis.evidence.made_logs import log
from tests.slis.stream.spools import rows


@pytest.fixture
def joins(logged, monkeypatch):
    """Return the passes that joined evidence and events, each by its minute."""
    made: list[int] = []

    def join(connection, given) -> int:
        made.append((logged.now - logged.began) // timedelta(minutes=1))
        return real(connection, given)

    real = scan.join_evidence
    monkeypatch.setattr(scan, "join_evidence", join)
    return made


def test_without_new_rows_no_join_runs_and_no_lock_is_taken(logged, joins):
    """Join for new lines of a log and new events only."""
    log(logged.logs / "app-1", "orders")
    logged.scan()
    logged.scan()
    assert joins == [1]

    with write_transaction(logged.catalog) as connection:
        connection.execute(insert(tables.reader_cursor), {"reader": "pipeline", "seq": 7})
    logged.scan()
    logged.scan()
    assert joins == [1, 3]

    log(logged.logs / "app-2", "rates")
    logged.scan()
    logged.scan()
    assert joins == [1, 3, 5]


def test_time_alone_makes_unreported_writes_known(logged, joins):
    """Wait five minutes for events; then store the execution as a run of its own."""
    log(logged.logs / "app-1", "orders", ago_millis=0)
    for _ in range(8):
        logged.scan()

    assert joins == [1, 6]
    assert rows(logged.catalog, "SELECT evidence, is_history FROM run") == [("alone", 0)]


def test_an_interrupted_join_is_repeated(logged, joins, monkeypatch):
    """Join in the next pass, although no new lines are due."""
    logged.scan()
    log(logged.logs / "app-1", "orders", ago_millis=0)

    def cut(*_given: object) -> int:
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr(scan, "join_evidence", cut)
        with pytest.raises(RuntimeError):
            logged.scan()
    logged.scan()
    logged.scan()

    assert joins == [1, 3]
