"""Times in which a collector is silent, by the heartbeats that it sent through the topic."""

from datetime import timedelta
from typing import Final

import structlog
from sqlalchemy import Engine, select

from lineage.catalog import tables
from lineage.catalog.engine import in_turn
from lineage.clock import from_micros
from slis.stream.gaps import write_gaps

log = structlog.get_logger(__name__)

# A shipper sends a heartbeat each 5 s, and a batch that brings it may take as long as this.
SILENT_AFTER: Final = timedelta(seconds=30)
# Silent for longer, while others are not, it was removed without a goodbye.
REMOVED_AFTER: Final = timedelta(hours=1)


def note_silence(engine: Engine, now: int) -> bool:
    """Open a gap for each collector that is silent; return whether the gaps changed.

    A gap that is over was reported by the collector itself, or a heartbeat came and nothing was
    missed: the open one is deleted.
    """
    table = tables.log_collector
    with engine.connect() as connection:
        rows = connection.execute(select(table.c.collector, table.c.heartbeat_at))
        beats = {row.collector: row.heartbeat_at for row in rows}
    silence = {name: from_micros(now) - from_micros(beat) for name, beat in beats.items()}
    silent = {name for name, lasts in silence.items() if lasts > SILENT_AFTER}
    removed = {name for name in silent if silence[name] > REMOVED_AFTER}
    if removed and len(silent) < len(beats):
        _forget(engine, removed)
        silent -= removed
    return write_gaps(engine, {beats[name]: None for name in silent})


def _forget(engine: Engine, removed: set[str]) -> None:
    table = tables.log_collector
    with in_turn(engine) as connection:
        connection.execute(table.delete().where(table.c.collector.in_(removed)))
    log.error(
        "collectors_removed",
        collectors=sorted(removed),
        reason="silent for an hour while others are not; events in their spools did not land",
        next="bring their volumes back, or ignore this where they were empty",
    )
