"""Silence of a collector lasts until it sends something, or an operator removes it."""

from contextlib import contextmanager

import pytest

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction, write_transaction
from lineage.catalog.upsert import fold_rows
from lineage.input_log.records import GAP, GOODBYE, HEARTBEAT, Record
from slis.stream.kafka import silence
from slis.stream.kafka.silence import note_silence, remove_collectors
from slis.stream.kafka.store import store_reports
from tests.slis.stream.spools import rows

SECOND = 1_000_000
DAY = 86_400


class Log:
    """Reports of collectors in a catalog, and requests to remove them; times in seconds."""

    def __init__(self, engine) -> None:
        self.engine = engine

    def report(self, collector, at, kind=HEARTBEAT, ended_at=None):
        """Land a report of a collector."""
        end = None if ended_at is None else ended_at * SECOND
        record = Record(kind=kind, collector=collector, received_at=at * SECOND, ended_at=end)
        with write_transaction(self.engine) as connection:
            store_reports(connection, [record], None)

    def request_removal(self, collector, heartbeat_at, at):
        """Request what the action requests."""
        times = {"heartbeat_at": heartbeat_at * SECOND, "requested_at": at * SECOND}
        with write_transaction(self.engine) as connection:
            fold_rows(connection, tables.collector_removal, [{"collector": collector, **times}])

    def note(self, now):
        """Have the pipeline note the silence of collectors."""
        return note_silence(self.engine, now * SECOND)

    @property
    def gaps(self):
        """Return the gaps, as (start, end)."""
        found = rows(self.engine, "SELECT started_at, ended_at FROM ingestion_gap ORDER BY 1")
        return [(start // SECOND, end and end // SECOND) for start, end in found]

    @property
    def collectors(self):
        """Return the names of the known collectors."""
        found = rows(self.engine, "SELECT collector FROM log_collector ORDER BY 1")
        return [name for (name,) in found]


@pytest.fixture
def log(catalog):
    """Note that `a` and `c` have been silent since 100 and 110, while `b` is up at 5,000."""
    log = Log(catalog)
    log.report("a", 100)
    log.report("c", 110)
    log.report("b", 5_000)
    log.note(5_001)
    return log


def test_silence_without_a_goodbye_is_a_gap_for_as_long_as_it_lasts(log):
    """Keep it open for days while another collector is up: the spool may hold events."""
    for day in range(1, 4):
        log.report("b", day * DAY)
        log.note(day * DAY + 1)

    assert log.gaps == [(100, None), (110, None)]
    assert log.collectors == ["a", "b", "c"]


@pytest.mark.parametrize("kind", [HEARTBEAT, GOODBYE])
def test_a_report_of_the_collector_ends_its_silence(log, kind):
    """Delete its open gap: what it held has landed before its report."""
    log.report("a", 5_010, kind)
    log.note(5_011)

    assert log.gaps == [(110, None)]


def test_the_gap_of_a_removed_collector_ends_at_the_request(log):
    """Keep the gap, so that what was due in it stays unknown; leave the other collectors alone."""
    log.request_removal("a", 100, at=4_990)

    assert log.note(5_002)
    assert log.gaps == [(100, 4_990), (110, None)]
    assert log.collectors == ["b", "c"]
    assert not log.note(5_003)


def test_a_collector_that_is_back_is_not_removed(log):
    """Compare its last heartbeat with that of the request."""
    log.request_removal("a", 100, at=4_990)
    log.report("a", 5_000)
    log.note(5_002)

    assert log.gaps == [(110, None)]
    assert log.collectors == ["a", "b", "c"]


def land_before_the_removal(monkeypatch, log, collector, at, kind=HEARTBEAT):
    """Land a report after the requests are read, before the transaction of the removal."""

    @contextmanager
    def behind_a_batch(engine):
        log.report(collector, at, kind)
        with exclusive_transaction(engine) as connection:
            yield connection

    monkeypatch.setattr(silence, "exclusive_transaction", behind_a_batch)
    assert not remove_collectors(log.engine)


def test_a_heartbeat_that_lands_while_a_collector_is_removed_keeps_it(log, monkeypatch):
    """Read the requests again in the transaction that deletes the collector."""
    log.request_removal("a", 100, at=4_990)
    land_before_the_removal(monkeypatch, log, "a", 5_000)
    log.note(5_002)

    assert log.gaps == [(110, None)]
    assert log.collectors == ["a", "b", "c"]


def test_a_removed_collector_that_comes_back_is_known_again(log):
    """Note its next silence, too: the request was for the silence before."""
    log.request_removal("a", 100, at=4_990)
    log.note(5_002)
    log.report("a", 6_000)
    log.report("b", 6_000)
    log.note(6_001)
    after_return = log.gaps, log.collectors
    log.report("b", 7_000)
    log.note(7_001)

    assert after_return == ([(100, 4_990), (110, None)], ["a", "b", "c"])
    assert log.gaps == [(100, 4_990), (110, None), (6_000, None)]


def test_a_longer_gap_that_the_collector_reported_stays(log):
    """Keep the later end when a shipper sends the old heartbeat again."""
    log.request_removal("a", 100, at=4_990)
    log.note(5_002)
    log.report("a", 100, GAP, ended_at=5_500)
    log.report("a", 100)
    log.note(5_003)

    assert log.gaps == [(100, 5_500), (110, None)]


def test_a_gap_of_two_collectors_stays_open_for_the_other_one(log):
    """Keep it: both sent their last heartbeat in the same microsecond."""
    log.report("d", 100)
    log.request_removal("a", 100, at=4_990)
    log.note(5_002)

    assert log.gaps == [(100, None), (110, None)]
    assert log.collectors == ["b", "c", "d"]


def test_the_gap_of_the_last_collector_ends_where_another_one_starts(catalog):
    """Keep the gap open although it was removed: no collector runs."""
    log = Log(catalog)
    log.report("a", 100)
    log.note(200)
    log.request_removal("a", 100, at=300)
    assert remove_collectors(catalog)
    while_none_runs = log.gaps
    assert not log.note(302)
    log.report("b", 9_000)
    log.note(9_001)

    assert while_none_runs == [(100, None)]
    assert log.gaps == [(100, 9_000)]
    assert log.collectors == ["b"]


def test_a_goodbye_that_lands_while_the_last_collector_is_removed_stays(catalog, monkeypatch):
    """End the gap where another collector starts: the catalog knows that the last one ended."""
    log = Log(catalog)
    log.report("a", 100)
    log.request_removal("a", 100, at=300)
    land_before_the_removal(monkeypatch, log, "a", 310, GOODBYE)
    log.report("b", 9_000)
    log.note(9_001)

    assert log.gaps == [(310, 9_000)]
    assert log.collectors == ["b"]
