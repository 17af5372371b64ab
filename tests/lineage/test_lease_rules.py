"""Leader election by the row of a lease and the database's clock."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.lease_rules import NEVER_HELD, LeaseRow, release_row, renew_row, take_row

SECOND = 1_000_000
HELD = LeaseRow("a", 3, since=100 * SECOND, expires_at=110 * SECOND)


def test_a_new_lease_is_taken():
    """Begin with epoch 1."""
    assert take_row(NEVER_HELD, "a", 5 * SECOND, 10) == LeaseRow("a", 1, 5 * SECOND, 15 * SECOND)


@pytest.mark.parametrize(
    ("now", "epoch"),
    [(109, None), (110, 4), (89, 4)],
    ids=["held", "expired", "the clock was set back"],
)
def test_a_lease_is_taken_when_it_is_free(now, epoch):
    """Begin a new epoch, also where the lease ends in a year: it would stop everything."""
    taken = take_row(HELD, "b", now * SECOND, 10)

    assert (taken and taken.epoch) == epoch


def test_a_process_that_restarts_takes_its_own_lease_at_once():
    """Take it for granted that the holder has ended: one service at a time has a name."""
    assert take_row(HELD, "a", 101 * SECOND, 10, is_start=True) == LeaseRow(
        "a", 4, 101 * SECOND, 111 * SECOND
    )
    assert take_row(HELD, "b", 101 * SECOND, 10, is_start=True) is None
    assert take_row(HELD, "a", 101 * SECOND, 10) is None


def test_only_the_newest_epoch_is_renewed():
    """Renew it late as well: no other process has led meanwhile."""
    assert renew_row(HELD, 3, 200 * SECOND, 10) == LeaseRow("a", 3, 100 * SECOND, 210 * SECOND)
    assert renew_row(HELD, 2, 101 * SECOND, 10) is None


def test_a_released_lease_is_free():
    """Release it without a renewal."""
    free = release_row(HELD, 3)

    assert free is not None
    assert renew_row(free, 3, 101 * SECOND, 10) is None
    assert take_row(free, "b", 101 * SECOND, 10) == LeaseRow("b", 4, 101 * SECOND, 111 * SECOND)
    assert release_row(HELD, 2) is None


_STEPS = st.tuples(st.sampled_from("abc"), st.sampled_from(["take", "renew", "release"]))


@given(st.lists(st.tuples(_STEPS, st.integers(0, 15))))
def test_no_two_processes_hold_one_epoch(steps):
    """Check any order of actions: an epoch has one holder, and never repeats."""
    row, now, own, holders = NEVER_HELD, 0, {}, {}
    for (who, what), seconds in steps:
        now += seconds * SECOND
        if what == "take":
            changed = take_row(row, who, now, 10)
        else:
            epoch = own.get(who, 0)
            changed = renew_row(row, epoch, now, 10) if what == "renew" else release_row(row, epoch)
        if changed is not None and changed.epoch > 0:
            assert changed.epoch >= row.epoch
            assert holders.setdefault(changed.epoch, who) == who
            row, own[who] = changed, changed.epoch
