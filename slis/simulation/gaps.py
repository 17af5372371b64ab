"""What a simulation gives: facts to learn from, and gaps to be judged by."""

import msgspec
import numpy as np
import numpy.typing as npt

from slis.simulation.wall_clock import Floats, Micros

# What lies in a gap: nothing, an outage (it must be found), or a cadence that grew slower, which
# nobody who does not know can tell from an outage.
USUAL, SILENCE, CHANGE = 0, 1, 2


Flags = npt.NDArray[np.bool_]


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
    """Datasets of a class: what the catalog would hold of them, and their gaps."""

    name: str
    dataset: Micros
    written_at: Micros
    gaps: Gaps
    is_streaming: bool = False
    has_calendar: bool = False


def silenced(dataset: Micros, at: Micros, begin: Floats, end: Floats) -> tuple[Flags, Flags]:
    """Which writes survive the outages, and for each survivor whether one follows it.

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


def flattened(present: Flags) -> Micros:
    """The row of each value that is there."""
    return np.nonzero(present)[0].astype(np.int64)
