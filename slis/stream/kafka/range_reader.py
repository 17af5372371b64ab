"""Reader of the events and reports of collectors in one range, each record once."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pyarrow as pa
from msgspec.structs import replace

from lineage.input_log.records import GAP, Record
from slis.lake.positions import Windows
from slis.stream.kafka.plan import BatchPlan, Range
from slis.stream.log.spool_reader import SPOOL_COLUMNS, record_batches

RANGE = "range"  # of a row with the result of a range
REPORT = "report"  # of a row that is a record without an event


class RangeResult(msgspec.Struct, frozen=True):
    """Result of reading a range of offsets.

    Attributes:
        partition: its number.
        next_offset: the next batch begins here.
        events: how many were taken.
        size: bytes of their bodies.
        repeats: records that the log has twice, and that were taken before.
        first_received_at: of the first record, µs; None: there was none.
        windows: of the records before `next_offset`.
    """

    partition: int
    next_offset: int
    events: int
    size: int
    repeats: int
    first_received_at: int | None
    windows: Windows


class _Window:
    """Records of one window of a collector that were read.

    Bodies are compared where a number comes twice. A digest of each was a fifth of reading.
    """

    def __init__(self, name: str, identities: Iterable[str] = ()) -> None:
        self.name = name
        self._identities = set(identities)  # of an earlier batch, or of other contents
        self._records: dict[tuple[str, int], Record] = {}

    def add(self, record: Record) -> bool:
        """Return whether the window has no such record yet, and note it."""
        if self._identities and record.identity in self._identities:
            return False
        key = record.kind, record.seq
        first = self._records.get(key)
        if first is None:
            self._records[key] = record
        elif first.body != record.body:
            self._identities.add(record.identity)
        else:
            return False
        return True

    def list_identities(self) -> list[str]:
        """Return the identities of all records."""
        return sorted(self._identities.union(one.identity for one in self._records.values()))


class RangeReader:
    """Reader of the records of one range, in the order of their offsets.

    Attributes:
        is_done: whether the range is read to its end, or its bound of bytes is reached.
        rows: of `spool_reader.SPOOL_COLUMNS`, one an event.
        reports: the other records, without bodies.
    """

    def __init__(self, plan: BatchPlan, part: Range) -> None:
        self._bounds = plan.after_seq, plan.last_seq
        self._range = part
        self._next = part.start
        self._windows = {name: _Window(*window) for name, window in part.windows.items()}
        self._size = self._repeats = 0
        self._first: int | None = None
        self.is_done = False
        self.rows: list[tuple[Any, ...]] = []
        self.reports: list[Record] = []

    def take(self, offset: int, record: Record) -> None:
        """Take a record, unless it comes behind the range, or does not fit any more."""
        if self.is_done or self.end_at(offset):
            return
        if self._size and self._size + len(record.body) > self._range.size:
            self.is_done = True
            return
        self._next = offset + 1
        self.is_done = self._next >= self._range.end
        if self._is_repeat(record):
            self._repeats += 1
            return
        if self._first is None and record.kind != GAP:  # a gap's time is its beginning
            self._first = record.received_at
        if record.is_event:
            self._size += len(record.body)
            self.rows.append(self._row(offset, record))
        else:
            self.reports.append(replace(record, body=b""))

    @property
    def left(self) -> int:
        """Offsets that are still to be read."""
        return 0 if self.is_done else self._range.end - self._next

    def end_at(self, offset: int) -> bool:
        """Note that the partition has no record before `offset` that was not taken.

        Except behind the bound of bytes: what was left there is of the next batch.
        """
        if not self.is_done and offset >= self._range.end:
            self._next, self.is_done = self._range.end, True
        return self.is_done

    def summary(self) -> RangeResult:
        """Return what was taken."""
        windows = {of: (one.name, one.list_identities()) for of, one in self._windows.items()}
        return RangeResult(
            self._range.partition,
            self._next,
            len(self.rows),
            self._size,
            self._repeats,
            self._first,
            windows,
        )

    def _row(self, offset: int, record: Record) -> tuple[Any, ...]:
        seq = self._range.base + 1 + offset - self._range.start
        return (seq, record.received_at, record.origin, record.kind, record.body, *self._bounds)

    def _is_repeat(self, record: Record) -> bool:
        """Return whether the record was taken before, in the same window with the same content.

        A shipper sends a window until Kafka acknowledges all of it, and only then the next one. So
        the last window of each collector is enough.
        """
        if not record.window:
            return False
        window = self._windows.get(record.collector)
        if window is None or window.name != record.window:
            window = self._windows[record.collector] = _Window(record.window)
        return not window.add(record)


def as_rows(reader: RangeReader) -> Iterator[pa.RecordBatch]:
    """Yield what a reader took as rows of `spool_reader.SPOOL_COLUMNS`, other records as JSON."""
    yield from record_batches(reader.rows)
    listed = [(REPORT, msgspec.json.encode(one)) for one in reader.reports]
    listed.append((RANGE, msgspec.json.encode(reader.summary())))
    yield from record_batches([(0, 0, "", kind, body, 0, 0) for kind, body in listed])


def events_of(readers: list[RangeReader]) -> pa.Table:
    """Return the events that these readers took, as `spool_reader.SPOOL_COLUMNS`."""
    batches = [batch for reader in readers for batch in record_batches(reader.rows)]
    return pa.Table.from_batches(batches, SPOOL_COLUMNS)
