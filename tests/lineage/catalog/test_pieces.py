"""Batches of many keys."""

from lineage.catalog.queries import MOST_AT_ONCE, split_batches


def test_all_are_there_once_in_their_order():
    """Also of what can be gone through only once; the last piece may be short."""
    found = list(split_batches(iter(range(2 * MOST_AT_ONCE + 1))))

    assert [len(piece) for piece in found] == [MOST_AT_ONCE, MOST_AT_ONCE, 1]
    assert [key for piece in found for key in piece] == list(range(2 * MOST_AT_ONCE + 1))


def test_of_nothing_there_is_no_piece():
    """Nobody asks a catalog for no keys."""
    assert list(split_batches([])) == []
