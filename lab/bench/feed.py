"""Sender of the benchmarks without a collector: `python -m lab.bench.feed SPOOL RATE SECONDS`."""

import sys
import time
from datetime import timedelta
from pathlib import Path

from lineage.process.clock import system_clock
from slis.made_up_events import fill_spool, make_events

_TURNS_A_SECOND = 50


def feed(path: Path, per_second: int, seconds: int) -> None:
    """Write so many events a second, every 20 ms, received as they are written."""
    a_turn = max(1, per_second // _TURNS_A_SECOND)
    began = time.monotonic()
    for turn in range(seconds * _TURNS_A_SECOND):
        now = system_clock()
        rows = make_events(a_turn, seed=turn + 1, start=now, apart=timedelta(0))
        fill_spool(path, ((now, body) for _, body in rows))
        time.sleep(max(0.0, began + (turn + 1) / _TURNS_A_SECOND - time.monotonic()))


if __name__ == "__main__":
    feed(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
