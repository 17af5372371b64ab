"""Control event that is known to land, to compare with one that fails."""

from datetime import datetime, timedelta

import pyarrow as pa

from lineage.process.clock import to_micros
from slis.settings import SharedPaths
from slis.spool_events import events
from slis.stream.batch import Batches
from slis.stream.merge import SpoolRange
from slis.stream.source import SPOOL_COLUMNS

_SEED = 8_700


def control_event(after_seq: int, at: datetime) -> pa.Table:
    """Return the event as a batch behind `after_seq`, received at that time."""
    [(_, body)] = events(1, seed=_SEED, start=at, apart=timedelta(0))
    seq = after_seq + 1
    row = [seq, to_micros(at), "http", "run", body, after_seq, seq]
    return pa.table([[value] for value in row], schema=SPOOL_COLUMNS)


def try_control_event(
    batches: Batches, place: SharedPaths, spool_range: SpoolRange, at: datetime
) -> None:
    """Do all that lands a good event in place of the one of the range, and leave nothing of it.

    Raises:
        Exception: it fails as well, so that the event of the range is not what is wrong.
    """
    batches.rehearse(control_event(spool_range.after_seq, at), place.control_lake)
