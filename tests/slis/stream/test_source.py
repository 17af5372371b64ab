"""How a batch of the spool is divided among workers."""

import pytest

from slis.stream.source import SpoolReader

OPTIONS = {"path": "/nowhere", "after_seq": "0", "max_rows": "100000"}


@pytest.mark.parametrize(
    ("after_seq", "last_seq", "ranges"),
    [
        (0, 1, [(0, 1)]),
        (7, 2_007, [(7, 2_007)]),
        (7, 2_008, [(7, 2_007), (2_007, 2_008)]),
        (0, 10_001, [(0, 5_001), (5_001, 10_001)]),
        (5, 5, []),
    ],
)
def test_a_batch_is_read_in_equal_ranges_and_a_small_one_in_one(after_seq, last_seq, ranges):
    """Each event is in one of them; a second worker for a few would cost more than it reads."""
    partitions = SpoolReader(OPTIONS).partitions({"seq": after_seq}, {"seq": last_seq})

    assert [(part.start, part.end) for part in partitions] == ranges
    assert {(part.after_seq, part.last_seq) for part in partitions} <= {(after_seq, last_seq)}
