"""Plan of a batch: which offsets of the topic it takes, and which numbers its events get.

Lake and catalog number events by one running `seq`. A batch gets as many numbers as it has offsets;
those of each partition follow one another. Offsets without an event leave a hole in the numbers.
"""

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from slis.lake.positions import Windows
from slis.stream.log.spool_reader import BatchLimits


class PartitionPosition(msgspec.Struct, frozen=True):
    """Position up to which a partition was read.

    Attributes:
        next_offset: the first record that no batch has taken.
        windows: of the records before it.
    """

    next_offset: int
    windows: Windows = {}


class Range(msgspec.Struct, frozen=True):
    """Offsets [start, end) of one partition.

    Attributes:
        partition: its number.
        start: the first offset.
        end: behind the last one.
        base: the number before that of the first record.
        size: bytes of bodies, at most; a single record always fits.
        windows: of the records before `start`.
    """

    partition: int
    start: int
    end: int
    base: int
    size: int
    windows: Windows = {}


class BatchPlan(msgspec.Struct, frozen=True):
    """Numbers (after_seq, last_seq] of a batch, and the offsets that they stand for."""

    after_seq: int
    ranges: tuple[Range, ...]

    @property
    def count(self) -> int:
        """Offsets of all partitions."""
        return sum(one.end - one.start for one in self.ranges)

    @property
    def last_seq(self) -> int:
        """Return the last number, whether or not a record has it."""
        return self.after_seq + self.count

    def without_windows(self) -> "BatchPlan":
        """Return the plan as a task needs it beside its own range: for the numbers alone."""
        return BatchPlan(self.after_seq, tuple(replace(one, windows={}) for one in self.ranges))

    @property
    def ends(self) -> dict[int, int]:
        """Return where the batch ends in each partition."""
        return {one.partition: one.end for one in self.ranges}


def allot(waiting: Mapping[int, int], most: int) -> dict[int, int]:
    """Share `most` records evenly among partitions; what a short one leaves goes to the others."""
    shares: dict[int, int] = {}
    shortest_first = sorted(waiting.items(), key=lambda item: (item[1], item[0]))
    for place, (partition, records) in enumerate(shortest_first):
        even = -(-most // (len(shortest_first) - place))
        shares[partition] = min(records, even)
        most -= shares[partition]
    return {partition: count for partition, count in sorted(shares.items()) if count}


def plan_batch(
    after_seq: int,
    positions: Mapping[int, PartitionPosition],
    ends: Mapping[int, int],
    limits: BatchLimits,
) -> BatchPlan:
    """Return the next batch; without ranges where nothing waits.

    Args:
        after_seq: the last number that the catalog holds.
        positions: by partition.
        ends: of the partitions.
        limits: of the batch. Their ends, of a range that failed, come before `ends`: else a half
            of that range would not be made of the same records. Ends that the topic does not have
            are of another topic.
    """
    of_range = {n: min(end, ends[n]) for n, end in limits.ends.items() if n in ends}
    waiting = _waiting(positions, of_range) or _waiting(positions, ends)
    shares = allot(waiting, limits.rows)
    ranges: list[Range] = []
    base, total = after_seq, sum(shares.values())
    for partition, count in shares.items():
        at = positions[partition]
        size = max(1, limits.size * count // total)
        end = at.next_offset + count
        ranges.append(Range(partition, at.next_offset, end, base, size, at.windows))
        base += count
    return BatchPlan(after_seq, tuple(ranges))


def _waiting(positions: Mapping[int, PartitionPosition], ends: Mapping[int, int]) -> dict[int, int]:
    left = {number: end - positions[number].next_offset for number, end in ends.items()}
    return {number: count for number, count in left.items() if count > 0}
