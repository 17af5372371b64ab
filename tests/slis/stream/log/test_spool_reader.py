"""Content of a batch of the spool, and the parts in which Spark gets it."""

from contextlib import closing

import pytest

from slis.stream.log import spool_reader
from slis.stream.log.spool_reader import (
    BatchLimits,
    last_seq_within,
    open_spool_to_read,
    read_next_events,
)
from tests.slis.stream.spools import run_event, spool


@pytest.fixture
def path(tmp_path, at):
    """Create a spool of eight events, of which the fifth is large; the third is pruned."""
    facets = [{"x": {"y": "a" * (5_000 if number == 5 else 50)}} for number in range(1, 9)]
    events = [run_event("START", at(1, number), facets=one) for number, one in enumerate(facets)]
    path = spool(tmp_path / "spool.db", events, received_at=at(12))
    import sqlite3  # noqa: PLC0415 - the collector alone writes a spool otherwise

    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM event WHERE seq = 3")
    return path


@pytest.mark.parametrize(
    ("after_seq", "limits", "last_seq"),
    [
        (0, BatchLimits(100, 1 << 20), 8),
        (0, BatchLimits(3, 1 << 20), 4),
        (2, BatchLimits(1, 1 << 20), 4),
        (0, BatchLimits(100, 3_000), 4),
        (4, BatchLimits(100, 3_000), 5),  # one event always fits
        (4, BatchLimits(100, 1), 5),
        (5, BatchLimits(100, 1), 6),
        (0, BatchLimits(100, 1 << 20, until=6), 6),
        (8, BatchLimits(100, 1 << 20), 8),
    ],
)
def test_a_batch_ends_where_the_first_of_its_bounds_is_reached(path, after_seq, limits, last_seq):
    """Cut by events, by bytes, or by the last event that it may hold."""
    with closing(open_spool_to_read(path)) as opened:
        assert last_seq_within(opened, after_seq, limits) == last_seq


def test_a_batch_is_read_in_pieces_of_bounded_size(path, monkeypatch):
    """Bound the part of one Spark task; an event is never split."""
    monkeypatch.setattr(spool_reader, "_RECORD_BATCH_BYTES", 1_500)

    table = read_next_events(path, 1, BatchLimits(100, 1 << 20))

    assert table["seq"].to_pylist() == [2, 4, 5, 6, 7, 8]
    assert set(table["after_seq"].to_pylist()) == {1}
    assert set(table["last_seq"].to_pylist()) == {8}
    sizes = [sum(map(len, piece["body"].to_pylist())) for piece in table.to_batches()]
    assert len(sizes) > 2
    assert all(size <= 1_500 for size in sizes if size < 5_000)


def test_no_event_is_an_empty_table_of_the_same_columns(path):
    """Return an empty table with the columns: most checks find no events."""
    table = read_next_events(path, 8, BatchLimits(100, 1 << 20))

    assert (table.num_rows, table.num_columns) == (0, 7)
