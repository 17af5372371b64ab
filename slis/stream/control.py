"""An event that is known to land, against which one that fails is held."""

from datetime import datetime, timedelta

import pyarrow as pa

from lineage.clock import to_micros
from slis.spool_events import events
from slis.stream.source import SPOOL_COLUMNS

_SEED = 8_700


def control_event(after_seq: int, at: datetime) -> pa.Table:
    """Return the event as a batch behind `after_seq`, received at that time."""
    [(_, body)] = events(1, seed=_SEED, start=at, apart=timedelta(0))
    seq = after_seq + 1
    row = [seq, to_micros(at), "http", "run", body, after_seq, seq]
    return pa.table([[value] for value in row], schema=SPOOL_COLUMNS)
