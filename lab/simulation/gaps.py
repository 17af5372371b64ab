"""Result of a simulation: facts to learn from, and gaps to be judged by."""

import msgspec
import numpy as np

from lab.simulation.wall_clock import DAYS, midnight_after
from lineage.graph.adjacency import Flags
from lineage.process.clock import to_micros
from slis.cadence.working_week import Floats, Micros

# What lies in a gap: nothing, an outage (it must be found), a cadence that grew slower, which
# no observer can distinguish from an outage, or from a failure that was fixed soon.
USUAL, SILENCE, CHANGE, FIXED = 0, 1, 2, 3
# Days after the first: what is learned by then, limits of old datasets are learned from.
FIRST_WATCHED = 60


class Gaps(msgspec.Struct, frozen=True):
    """Gaps between writes, ordered by dataset and time; arrays of one length.

    `oracle_due_at` is when one who knows the distribution that the next write is drawn from calls
    it late, with a false alarm in 1,000 weeks. Instants are in microseconds UTC.
    """

    dataset: Micros
    started_at: Micros
    ended_at: Micros
    oracle_due_at: Micros
    kind: Micros


class Simulated(msgspec.Struct, frozen=True):
    """Datasets of a class: what the catalog would hold of them, and their gaps.

    Rules are judged on gaps that began between the first watched day and the last.
    """

    name: str
    dataset: Micros
    written_at: Micros
    gaps: Gaps
    is_streaming: bool = False
    has_calendar: bool = False
    first_day: float = FIRST_WATCHED
    last_day: float = DAYS - 1.0

    def watched(self) -> Flags:
        """Return which gaps rules are judged on."""
        first, last = (to_micros(midnight_after(day)) for day in (self.first_day, self.last_day))
        return (self.gaps.started_at >= first) & (self.gaps.started_at < last)


def silence(dataset: Micros, at: Micros, begin: Floats, end: Floats) -> tuple[Flags, Flags]:
    """Return which writes survive the outages, and for each survivor whether one follows it.

    Args:
        dataset: of each write, in order.
        at: when each write is.
        begin: instants at which outages of each dataset begin: shape (datasets, outages).
        end: and end.
    """
    lost = np.zeros(at.size, dtype=np.bool_)
    for number in range(begin.shape[1]):
        lost |= (at >= begin[dataset, number]) & (at < end[dataset, number])
    kept = np.flatnonzero(~lost)
    follows = np.diff(np.append(kept, at.size)) > 1
    return ~lost, follows


def flatten(present: Flags) -> Micros:
    """Return the row of each value that exists."""
    return np.nonzero(present)[0].astype(np.int64)
