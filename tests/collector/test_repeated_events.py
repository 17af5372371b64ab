"""Counts of waiting events after repeats: none waits for any reader once all have passed it."""

from contextlib import closing

import pytest

from collector.retention import SpoolRetention
from collector.shipper.position import ShippedPosition
from collector.shipper.window import read_backlog
from collector.spool_file import open_spool
from lab.demo.lineward_up import LinewardUp
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import open_reader
from lineage.catalog.tables import reader_cursor
from lineage.process.clock import system_clock
from service.queries.marquez_status import marquez_status
from service.queries.status import load_status
from service.runtime.settings import Settings
from tests.collector.spools import OLD, events, wait_for_groups
from tests.service.commandline import lineward

BODIES = (b"a", b"b")
_AS_BEFORE = """
INSERT OR IGNORE INTO event (body_hash, received_at, origin, kind, body)
VALUES (?, 0, 'http', 'run', ?)
"""


def _write_as_before(path, bodies):
    """Write as earlier releases did: each repeat takes a number."""
    with closing(open_spool(path, 1 << 30)) as spool:
        for body in bodies:
            spool.execute(_AS_BEFORE, (body, body))
        given = spool.execute("SELECT seq FROM sqlite_sequence").fetchone()
    assert given == (len(bodies),)


@pytest.fixture(params=["this release", "an earlier release"])
def written(request, tmp_path, started, outcomes):
    """Write a spool in which two events were each sent twice."""
    if request.param == "an earlier release":
        _write_as_before(tmp_path / "spool.db", BODIES * 2)
        return
    spool = started()
    for number in (1, 2):
        spool.submit(events(spool, *BODIES))
        wait_for_groups(outcomes, number)
    spool.stop()


def _pass(engine, seq):
    rows = [{"reader": reader, "seq": seq} for reader in ("pipeline", "marquez")]
    with write_transaction(engine) as connection:
        connection.execute(reader_cursor.delete())
        connection.execute(reader_cursor.insert(), rows)


def _waiting(engine, tmp_path, seq):
    """Return the waiting events behind `seq`, by everything that counts them."""
    _pass(engine, seq)
    settings, now = Settings(data_dir=tmp_path), system_clock()
    with open_reader(settings.catalog) as reader:
        forwarding = marquez_status(reader, settings, now).forwarding
    status = load_status(settings, now).backlog_events
    with closing(open_spool(tmp_path / "spool.db", 1 << 30)) as spool:
        shipped = read_backlog(spool, ShippedPosition(seq=seq)).events
        retention = SpoolRetention(spool, OLD, system_clock)
        retention.allow_deletion(seq)
        retention.prune()
    return [status, retention.waiting_events, forwarding.waiting_events, shipped]


@pytest.mark.usefixtures("written")
def test_no_event_waits_after_repeats(embedded, tmp_path):
    """Count stored events, or an alert on stopped ingestion fires for ever."""
    assert _waiting(embedded, tmp_path, 0) == [2] * 4
    assert _waiting(embedded, tmp_path, 1) == [1] * 4
    assert _waiting(embedded, tmp_path, 2) == [0] * 4

    text = lineward("status", "--data-dir", str(tmp_path), catalog=embedded).stdout
    assert "2 events accepted, 0 rejected" in text
    assert "pipeline: 0 events wait" in text
    up = LinewardUp(Settings(data_dir=tmp_path), tmp_path / "up.log", tmp_path / "event-logs")
    assert up.received() == 2


def test_numbers_before_the_first_waiting_event_are_not_counted(embedded, tmp_path):
    """Count one event behind a hole that repeats of an earlier release left."""
    _write_as_before(tmp_path / "spool.db", BODIES * 2 + (b"c",))

    assert _waiting(embedded, tmp_path, 2) == [1] * 4
