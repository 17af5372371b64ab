"""Batches of many keys."""

from lineage.catalog.queries import MOST_AT_ONCE, split_batches


def test_each_key_is_in_one_batch_in_order():
    """Split an iterator too; the last batch may be short."""
    found = list(split_batches(iter(range(2 * MOST_AT_ONCE + 1))))

    assert [len(piece) for piece in found] == [MOST_AT_ONCE, MOST_AT_ONCE, 1]
    assert [key for piece in found for key in piece] == list(range(2 * MOST_AT_ONCE + 1))


def test_no_keys_make_no_batch():
    """Run no query without keys."""
    assert list(split_batches([])) == []
