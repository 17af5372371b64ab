"""Slab received into the spool, by the collector's own writer on a simulated clock."""

import sqlite3
from contextlib import closing

import pytest

from collector.errors import InvalidEventError
from lab.gameday.driver.reception import CollectedSpool
from lab.gameday.estate import Shape, build_estate
from lab.gameday.events import Posted
from lab.gameday.history import Slab, slabs
from lab.gameday.injected import Injected
from lab.gameday.model import HOUR
from lab.gameday.slots import begins_at
from slis.stream.log.gaps import read_gaps

ESTATE = build_estate(Shape(seed=1, datasets=60, days=3))
OUTAGE = Injected(
    "collector_outage", (), begins_at(ESTATE) + 30 * HOUR, begins_at(ESTATE) + 32 * HOUR
)


def receive_history(path, injected=()):
    """Receive the history of three days through one collector."""
    collected = CollectedSpool(path)
    found = list(slabs(ESTATE, injected))
    return found, [collected.take(slab) for slab in found]


def rows(path, query):
    with closing(sqlite3.connect(path)) as spool:
        return spool.execute(query).fetchall()


def test_each_event_is_received_at_its_time_in_the_history(tmp_path):
    """Store in the order of arrival, to the byte."""
    found, counts = receive_history(tmp_path / "spool.db")
    sent = [tuple(event) for slab in found for event in slab.events]

    assert counts == [len(slab.events) for slab in found]
    assert rows(tmp_path / "spool.db", "SELECT received_at, body FROM event ORDER BY seq") == sent


def test_days_that_go_by_in_a_second_are_no_gap(tmp_path):
    """Record no gap: the collector ran all the time."""
    found, _ = receive_history(tmp_path / "spool.db")

    assert read_gaps(tmp_path / "spool.db", found[-1].ends_at) == []


def test_an_outage_is_a_gap_from_its_beginning_to_its_end(tmp_path):
    """Record the gap that the collector finds itself, when it starts again."""
    found, counts = receive_history(tmp_path / "spool.db", [OUTAGE])
    deaf = [slab.is_deaf for slab in found].index(True)

    assert counts[deaf] == 0
    assert read_gaps(tmp_path / "spool.db", found[-1].ends_at) == [
        (OUTAGE.starts_at, OUTAGE.ends_at)
    ]


def test_a_gap_is_open_during_an_outage(tmp_path):
    """Show at the end of a slab that there is no collector."""
    collected = CollectedSpool(tmp_path / "spool.db")
    for slab in slabs(ESTATE, [OUTAGE]):
        collected.take(slab)
        if slab.is_deaf:
            break

    assert read_gaps(tmp_path / "spool.db", slab.ends_at) == [(OUTAGE.starts_at, None)]


def test_a_body_that_is_no_event_raises(tmp_path):
    """Raise an error, and do not skip the event."""
    wrong = Slab(1, 2, [Posted(1, b'{"eventType": "START"}')])
    with pytest.raises(InvalidEventError):
        CollectedSpool(tmp_path / "spool.db").take(wrong)
