"""Offsets of a batch, their numbers, and records that come twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lineage.input_log.records import Record
from slis.stream.kafka.plan import BatchPlan, PartitionPosition, Range, allot, plan_batch
from slis.stream.kafka.range_reader import RangeReader
from slis.stream.log.spool_reader import BatchLimits

BACKLOGS = st.dictionaries(st.integers(0, 40), st.integers(0, 200), max_size=8)
PLENTY = BatchLimits(1_000, 1 << 20)


def plan_of(ends, limits, *, at=100, starts=None):
    """Plan a batch of partitions that were read to `starts`, or to 0."""
    positions = {number: PartitionPosition((starts or {}).get(number, 0)) for number in ends}
    return plan_batch(at, positions, ends, limits)


@given(BACKLOGS, st.integers(1, 300))
def test_a_batch_is_as_full_as_it_may_be(waiting, most):
    """Leave to the others what a partition with little cannot use."""
    shares = allot(waiting, most)

    assert sum(shares.values()) == min(most, sum(waiting.values()))
    assert all(0 < count <= waiting[number] for number, count in shares.items())
    if len(shares) > 1:  # no partition has more than one above another that still has records
        left = [count for number, count in shares.items() if count < waiting[number]]
        assert max(left, default=0) - min(left, default=0) <= 1


@given(BACKLOGS, st.integers(1, 300))
def test_numbers_follow_one_another_without_a_gap(ends, most):
    """Begin the next batch where this one ends, whatever the partitions hold."""
    plan = plan_of(ends, BatchLimits(most, 1 << 20))
    numbers = [
        one.base + 1 + offset for one in plan.ranges for offset in range(one.end - one.start)
    ]

    assert numbers == list(range(101, plan.last_seq + 1))
    assert plan.count == len(numbers)


def test_a_batch_begins_at_the_positions():
    """Plan no range of partitions that are read to their ends."""
    plan = plan_of({0: 5, 1: 9, 2: 4}, PLENTY, starts={0: 3, 1: 2, 2: 4})

    assert [(one.partition, one.start, one.end, one.base) for one in plan.ranges] == [
        (0, 3, 5, 100),
        (1, 2, 9, 102),
    ]


def test_the_ends_of_a_range_of_another_topic_are_not_waited_for():
    """Plan what the topic has: it has fewer partitions, and this one is shorter."""
    plan = plan_of({0: 5, 1: 3}, BatchLimits(100, 1 << 20, ends={0: 900, 7: 4}))

    assert [(one.partition, one.start, one.end) for one in plan.ranges] == [(0, 0, 5)]


def test_a_task_gets_the_windows_of_its_own_range_alone():
    """Keep the numbers, which the whole plan decides."""
    windows = {"c": ("0-0", ["run:1:ab"])}
    plan = BatchPlan(7, (Range(0, 0, 4, 7, 1, windows), Range(1, 0, 2, 11, 1, windows)))
    bare = plan.without_windows()

    assert [one.windows for one in bare.ranges] == [{}, {}]
    assert (bare.after_seq, bare.last_seq, bare.ends) == (plan.after_seq, plan.last_seq, plan.ends)


def test_half_of_a_failed_range_has_the_same_records():
    """Leave records that came meanwhile out, or the bad one would never be alone."""
    failed = plan_of({0: 2, 1: 6}, PLENTY)
    meanwhile = {0: 500, 1: 500, 2: 500}
    half = plan_of(meanwhile, BatchLimits(4, 1 << 20, ends=failed.ends))

    assert half.ends == {0: 2, 1: 2}
    later = {0: 2, 1: 6}
    rest = plan_of(meanwhile, BatchLimits(4, 1 << 20, ends=failed.ends), starts=half.ends)
    assert rest.ends == {1: 6}
    assert plan_of(meanwhile, replace(PLENTY, ends=failed.ends), starts=later).count == 1_000


def event(seq, *, body=b"{}", window="0-0", collector="c-0", kind="run"):
    """Make a record of a shipper."""
    given = {"seq": seq, "window": window, "body": body}
    return Record(kind=kind, collector=collector, received_at=seq, origin="http", **given)


def read(*records: Record, size=1 << 20, end=None, windows=None):
    """Read these records as offsets from 10 on."""
    part = Range(0, 10, 10 + (end or len(records)), 100, size, windows or {})
    reader = RangeReader(BatchPlan(100, (part,)), part)
    for offset, record in enumerate(records, start=10):
        reader.take(offset, record)
    return reader


def test_an_event_has_the_number_of_its_offset():
    """Leave the number of what is no event unused."""
    reader = read(event(1), event(7, kind="rejected"), event(2))

    assert [row[0] for row in reader.rows] == [101, 103]
    assert {row[-2:] for row in reader.rows} == {(100, 103)}
    assert [one.kind for one in reader.reports] == ["rejected"]
    assert reader.summary().next_offset == 13


@pytest.mark.parametrize(("size", "taken"), [(1, 1), (7, 2), (9, 3), (100, 4)])
def test_a_range_ends_where_its_bytes_do(size, taken):
    """Take a single event always; the next batch begins at the one that did not fit."""
    reader = read(*(event(number, body=b"abc") for number in range(4)), size=size)

    assert (len(reader.rows), reader.summary().next_offset) == (taken, 10 + taken)
    assert reader.is_done


def test_the_end_of_the_partition_takes_nothing_that_did_not_fit():
    """Leave it to the next batch: the client reads ahead, also behind the bound of bytes."""
    reader = read(event(1), event(2), size=1)
    before = reader.summary().next_offset

    assert reader.end_at(13)
    assert reader.summary().next_offset == before == 11


def test_a_range_whose_last_offsets_hold_no_record_ends_too():
    """End by Kafka's report: the last offsets hold its own control records."""
    reader = read(event(1), end=3)
    assert not reader.is_done

    assert reader.end_at(13)
    assert reader.summary().next_offset == 13


def test_a_record_that_is_sent_again_is_taken_once():
    """Drop it in the same batch, and in a later one: the position has the last window."""
    first = read(event(1), event(2), event(1))
    again = read(event(2), event(3), event(1), windows=first.summary().windows)

    assert (len(first.rows), first.summary().repeats) == (2, 1)
    assert ([row[1] for row in again.rows], again.summary().repeats) == ([3], 2)


@pytest.mark.parametrize(
    "other",
    [
        event(1, body=b"[]"),
        event(1, collector="c-1"),
        event(1, window="1-0"),
        event(1, kind="rejected"),
        event(2),
    ],
    ids=["content", "collector", "window", "kind", "number"],
)
def test_only_the_same_record_is_a_repeat(other):
    """Keep new content: a spool that was restored gives out its numbers again."""
    reader = read(event(1), other)

    assert len(reader.rows) + len(reader.reports) == 2


def test_a_number_that_has_two_contents_takes_each_once():
    """Drop both when they come again, in the same batch and in a later one."""
    both = event(1), event(1, body=b"[]")
    first = read(*both, *both)
    again = read(*both, windows=first.summary().windows)

    assert (len(first.rows), first.summary().repeats) == (2, 2)
    assert (len(again.rows), again.summary().repeats) == (0, 2)


def test_only_the_last_window_of_a_collector_is_remembered():
    """Drop the previous one: its shipper began the next when Kafka had all of it."""
    reader = read(*(event(number, window=f"{number // 3}-0") for number in range(9)))
    [(window, seen)] = reader.summary().windows.values()

    assert (window, len(seen)) == ("2-0", 3)
