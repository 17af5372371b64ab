"""Landing of the lake's events that a restored or a new catalog lacks."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import structlog

from lineage.lake.manifest import list_folders, query_function
from lineage.lake.reading import read_events
from lineage.lake.storage import Lake
from slis.lake.listing import LakeBatch, list_names, read_batches
from slis.lake.reconciling import group_batches
from slis.settings import SharedPaths
from slis.stream.batch import Batches
from slis.stream.failures.causes import is_of_machine, reason_line
from slis.stream.failures.set_aside import set_aside_again, set_event_aside, try_control_event
from slis.stream.log.input_log import STOPPING
from slis.stream.log.spool_reader import SPOOL_COLUMNS
from slis.stream.merge.merge import LogRange, MergeStep, advance_cursor, cursor, store_nothing

log = structlog.get_logger(__name__)

_QUERY_ID: Final = "restore"  # `batch.query_id` of what is landed again
_MOST_BYTES = 64 << 20  # of bodies in one piece: the driver holds several copies of them


class LakeReplay:
    """Landing of batches of the lake behind the cursor of the catalog.

    Attributes:
        at: number of the last event that the catalog has.
        found: batches in the manifest, and in the lake behind the cursor, in the order of events.
    """

    def __init__(self, place: SharedPaths, batches: Batches, max_rows: int, now: datetime) -> None:
        """Find the batches in the manifest and in the lake; land nothing yet.

        Args:
            place: where a control event is tried.
            batches: lands events that are history.
            max_rows: events a piece, at most.
            now: by the pipeline's clock.
        """
        self._place, self._batches, self._max_rows = place, batches, max_rows
        self._now = now
        self.writer = batches.writer
        with self.writer.engine.connect() as connection:
            self.at = cursor(connection)
            visible = list_folders(query_function(connection))
        # A row of events behind the cursor is of a restore that was cut short.
        self._covered_to = max((folder.last_seq for folder in visible), default=0)
        known = group_batches(visible)
        self._known = {batch.name.text for batch in known}
        self.found = sorted([*known, *self._list_unknown(now)], key=_order)

    def _list_unknown(self, now: datetime) -> list[LakeBatch]:
        names = [
            name
            for name in list_names(self.writer.lake)
            if name.last_seq > self.at and name.text not in self._known
        ]
        return read_batches(self.writer.lake, names, now.date())

    def _is_in_lake(self, batch: LakeBatch) -> bool:
        """Return whether readers see the batch in the lake; where none overlaps it, they do now."""
        if self.is_visible(batch):
            return True
        if batch.name.first_seq <= self._covered_to:
            return False
        # Before its events land: a restore that is cut short goes on with the rest.
        with self.writer.turn() as connection:
            self.writer.commit(connection, batch.folders)
        self._covered_to = batch.name.last_seq
        return True

    def is_visible(self, batch: LakeBatch) -> bool:
        """Return whether the manifest had the batch before the replay."""
        return batch.name.text in self._known

    def take(self, batch: LakeBatch, store: MergeStep = store_nothing) -> None:
        """Land the events of a batch that the catalog lacks.

        Args:
            batch: of `found`.
            store: writes the position of the log, when all events of the batch have landed.
        """
        lake, is_in_lake = self.writer.lake, self._is_in_lake(batch)
        for low, high in _pieces(lake, batch, self.at, self._max_rows):
            events = _events(lake, batch, low, high)
            if events.num_rows:
                self._land_events(events, low, high, is_in_lake=is_in_lake)
        self.at = batch.name.last_seq
        with self.writer.turn() as connection:
            advance_cursor(connection, self.at)
            store(connection)
        log.info("events_restored", folder=batch.name.text, last_seq=self.at)

    def _land_events(self, events: pa.Table, low: int, high: int, *, is_in_lake: bool) -> None:
        """Land the events of (low, high], and set those aside that fail by themselves.

        An event that was set aside once is in the lake, and fails again.
        """
        at = LogRange(_QUERY_ID, high, low, high)
        try:
            self._batches.land(events, at, is_in_lake=is_in_lake)
        except STOPPING:
            raise
        except Exception as error:
            if is_of_machine(error):
                raise
            if events.num_rows == 1:
                self._set_aside(events, at, error, is_in_lake=is_in_lake)
                return
            half = events.num_rows // 2
            end = events["seq"][half - 1].as_py()
            self._land_events(events.slice(0, half), low, end, is_in_lake=is_in_lake)
            self._land_events(events.slice(half), end, high, is_in_lake=is_in_lake)

    def _set_aside(
        self, events: pa.Table, at: LogRange, error: Exception, *, is_in_lake: bool
    ) -> None:
        now = self._now
        try_control_event(self._batches, self._place, at, now)
        record = set_aside_again if is_in_lake else set_event_aside
        record(self.writer, at, events, reason_line(error), lambda: now)
        log.error("event_set_aside", seq=at.last_seq, error=reason_line(error))


def _order(batch: LakeBatch) -> tuple[int, int]:
    # The widest first: whatever may cover a batch comes before it.
    return batch.name.first_seq, -batch.name.last_seq


def _pieces(lake: Lake, batch: LakeBatch, at: int, max_rows: int) -> Iterator[tuple[int, int]]:
    """Yield ranges (low, high] of a batch's events behind `at`, bounded in rows and bytes."""
    body = pc.binary_length(ds.field("body"))
    scanner = read_events(lake, batch.folders).scanner(
        columns={"seq": ds.field("seq"), "bytes": body}, filter=ds.field("seq") > at
    )
    sizes = scanner.to_table().sort_by("seq")
    low, last, rows, total = at, at, 0, 0
    for seq, size in zip(sizes["seq"].to_pylist(), sizes["bytes"].to_pylist(), strict=True):
        if rows and (rows == max_rows or total + size > _MOST_BYTES):
            yield low, last
            low, rows, total = last, 0, 0
        last, rows, total = seq, rows + 1, total + size
    if rows:
        yield low, batch.name.last_seq


def _events(lake: Lake, batch: LakeBatch, low: int, high: int) -> pa.Table:
    """Return events of the lake as the spool's source gives them."""
    wanted = (ds.field("seq") > low) & (ds.field("seq") <= high)
    columns = ["seq", "received_at", "origin", "kind", "body"]
    found = read_events(lake, batch.folders).to_table(columns=columns, filter=wanted)
    received = found["received_at"].cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    found = found.set_column(1, "received_at", received)
    for name, bound in (("after_seq", low), ("last_seq", high)):
        found = found.append_column(name, pa.array([bound] * found.num_rows, pa.int64()))
    return found.cast(SPOOL_COLUMNS).sort_by("seq")
