import random

from hypothesis import given
from hypothesis import strategies as st

from lineage.names.aliases import canonical_by_key

LOCATION, TABLE, OLD_LOCATION, HDFS_TABLE, OTHER = 1, 2, 3, 4, 5
NAMES = {LOCATION: ("file", "/wh/orders"), OLD_LOCATION: ("file", "/old/orders")}


def test_a_table_is_its_location():
    """Join Spark's path of a table and the metastore's name in its symlink."""
    assert canonical_by_key([(LOCATION, TABLE)], NAMES) == {LOCATION: LOCATION, TABLE: LOCATION}


def test_two_symlinks_of_one_location_are_one_dataset():
    """Join the two identifiers of one table that Dataproc's listener sends."""
    found = canonical_by_key([(LOCATION, TABLE), (LOCATION, HDFS_TABLE)], NAMES)

    assert set(found.values()) == {LOCATION}


def test_the_smaller_name_of_two_locations_is_shown():
    """Choose alike in any order of events."""
    found = canonical_by_key([(LOCATION, TABLE), (OLD_LOCATION, TABLE)], NAMES)

    assert set(found.values()) == {OLD_LOCATION}


def test_names_that_point_at_each_other_end():
    """Join a cycle of symlinks to one dataset."""
    names = NAMES | {TABLE: ("hive://ms", "db.orders")}

    assert set(canonical_by_key([(LOCATION, TABLE), (TABLE, LOCATION)], names).values()) == {
        LOCATION
    }


def test_the_policy_names_the_dataset():
    """Show the name that the policy chooses."""
    found = canonical_by_key([(LOCATION, TABLE)], NAMES, {TABLE: OTHER})

    assert found == {LOCATION: OTHER, TABLE: OTHER, OTHER: OTHER}


def test_the_policy_keeps_names_apart():
    """Withdraw a symlink that two datasets share by mistake."""
    edges = [(LOCATION, TABLE), (OLD_LOCATION, TABLE)]

    found = canonical_by_key(edges, NAMES, {OLD_LOCATION: OLD_LOCATION})

    assert found == {LOCATION: LOCATION, TABLE: LOCATION, OLD_LOCATION: OLD_LOCATION}


_keys = st.integers(0, 12)


@given(
    st.lists(st.tuples(_keys, _keys), max_size=20),
    st.dictionaries(_keys, _keys, max_size=4),
    st.randoms(),
)
def test_the_order_of_symlinks_does_not_matter(edges, overrules, chance: random.Random):
    """Return the same datasets for shuffled and repeated symlinks; each leads to itself."""
    names = {reported: ("n", str(reported)) for reported, _ in edges}
    shuffled = edges + edges[:3]
    chance.shuffle(shuffled)

    found = canonical_by_key(edges, names, overrules)

    assert found == canonical_by_key(shuffled, names, overrules)
    assert all(found[target] == target for target in found.values())
