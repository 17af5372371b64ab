"""Writes of one dataset that its cadence is learned from."""

import msgspec
import numpy as np

from lineage.graph.adjacency import Flags, Keys
from lineage.process.clock import DAY_MICROS
from lineage.sli_limits import HISTORY_DAYS, SLOW_HISTORY_DAYS
from slis.cadence.deliveries import begin_deliveries, begin_slots, end_root_runs, spans_of
from slis.cadence.working_week import Floats, Micros

# Half a year of an hourly job's: its cadence needs 500 of them, the tail of its delays all.
MAX_WRITES = 4_500
_SLOW_WRITES = 25  # in the two years of what is written less than weekly


class KnownWrites(msgspec.Struct, frozen=True):
    """Writes of one dataset that count, and of the gap before each what it may teach."""

    written_at: Micros
    root_run: Keys  # a number for each; 0 where it is not known
    meant_for: Floats  # nominal time or date of the partition; NaN where it is not known
    wall: Floats
    teaches: Flags
    has_failed: Flags
    is_streaming: bool

    def until(self, as_of: int) -> "KnownWrites":
        """Return the writes of the 180 days up to an instant, the newest 4,500 at most.

        Of a slow dataset the newest 25 within two years: half a year holds six months' writes.
        """
        count = int(np.searchsorted(self.written_at, as_of, side="right"))
        recent, oldest = np.searchsorted(
            self.written_at,
            [as_of - HISTORY_DAYS * DAY_MICROS, as_of - SLOW_HISTORY_DAYS * DAY_MICROS],
        )
        since = min(recent, max(oldest, count - _SLOW_WRITES))
        return self._sliced(slice(max(int(since), count - MAX_WRITES), count))

    def deliveries(self) -> "KnownWrites":
        """Return the writes that are deliveries, and the gaps between these."""
        ends = self.select(end_root_runs(self.written_at, self.root_run))
        first = ends.select(begin_slots(ends.meant_for))
        return first.select(begin_deliveries(first.written_at))

    def select(self, some: Flags) -> "KnownWrites":
        """Return these writes; the gap before each spans the writes that are left out."""
        return KnownWrites(
            self.written_at[some],
            self.root_run[some],
            self.meant_for[some],
            self.wall[some],
            spans_of(some, self.teaches, is_any=False),
            spans_of(some, self.has_failed, is_any=True),
            self.is_streaming,
        )

    def _sliced(self, part: slice) -> "KnownWrites":
        return KnownWrites(
            self.written_at[part],
            self.root_run[part],
            self.meant_for[part],
            self.wall[part],
            self.teaches[part],
            self.has_failed[part],
            self.is_streaming,
        )


def is_any_between(instants: Micros, at: Micros) -> Flags:
    """Return whether one of the instants, which are in order, lies before each write."""
    before = np.searchsorted(instants, at)
    return np.diff(before, prepend=before[:1]) > 0
