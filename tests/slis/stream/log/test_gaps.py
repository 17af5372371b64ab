"""Gaps of the collector, and how they reach the catalog."""

import sqlite3
from contextlib import closing

import pytest

from slis.stream.log.gaps import copy_gaps
from tests.slis.stream.spools import rows

SECOND = 1_000_000


@pytest.fixture
def beating(tmp_path):
    """Create a spool with a last heartbeat at second 100; `beating(second)` writes another."""
    path = tmp_path / "spool.db"
    with closing(sqlite3.connect(path)) as spool, spool:
        spool.execute("CREATE TABLE heartbeat (id INTEGER PRIMARY KEY, beat_at INTEGER NOT NULL)")
        spool.execute("CREATE TABLE gap (started_at INTEGER PRIMARY KEY, ended_at INTEGER)")

    def heartbeat(second, gap=None):
        with closing(sqlite3.connect(path)) as spool, spool:
            spool.execute("REPLACE INTO heartbeat VALUES (1, ?)", (second * SECOND,))
            if gap:
                spool.execute("INSERT INTO gap VALUES (?, ?)", [part * SECOND for part in gap])

    heartbeat(100)
    heartbeat.path = path
    return heartbeat


def test_a_silence_is_a_gap_from_its_fourth_second_and_ends_with_the_next_heartbeat(
    beating, catalog
):
    """Show the gap as open while it lasts; close it by the collector's own row."""
    gaps = "SELECT started_at, ended_at FROM ingestion_gap"
    assert not copy_gaps(beating.path, catalog, 103 * SECOND)

    assert copy_gaps(beating.path, catalog, 104 * SECOND)
    assert rows(catalog, gaps) == [(100 * SECOND, None)]
    assert not copy_gaps(beating.path, catalog, 105 * SECOND)

    beating(110, gap=(100, 110))
    assert copy_gaps(beating.path, catalog, 111 * SECOND)
    assert rows(catalog, gaps) == [(100 * SECOND, 110 * SECOND)]


def test_a_silence_without_a_gap_of_the_collector_is_forgotten(beating, catalog):
    """Delay one heartbeat by a stalled disk: no event was rejected in that time."""
    copy_gaps(beating.path, catalog, 104 * SECOND)
    beating(105)

    assert copy_gaps(beating.path, catalog, 106 * SECOND)
    assert rows(catalog, "SELECT * FROM ingestion_gap") == []


@pytest.mark.postgres_nightly
def test_a_heartbeat_ahead_of_the_clock_is_no_heartbeat_of_now(beating, catalog):
    """Count a wrong clock's heartbeat as silence until the collector's next one."""
    beating(107)
    assert not copy_gaps(beating.path, catalog, 104 * SECOND)

    beating(5_000)
    assert copy_gaps(beating.path, catalog, 104 * SECOND)
    assert rows(catalog, "SELECT * FROM ingestion_gap") == [(5_000 * SECOND, None)]

    beating(106)
    assert copy_gaps(beating.path, catalog, 107 * SECOND)
    assert rows(catalog, "SELECT * FROM ingestion_gap") == []


@pytest.mark.postgres_nightly
def test_a_spool_that_is_not_there_yet_has_no_gaps(tmp_path, catalog):
    """Return none: the pipeline may start before the collector."""
    assert not copy_gaps(tmp_path / "none.db", catalog, SECOND)
