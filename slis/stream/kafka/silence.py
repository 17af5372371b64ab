"""Times in which a collector is silent, by the heartbeats that it sent through the topic."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import structlog
from sqlalchemy import Engine, exists, func, select

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.process.clock import from_micros, to_micros
from slis.stream.log.gaps import write_gaps

log = structlog.get_logger(__name__)

# A shipper sends a heartbeat each 5 s, and a batch that brings it may take as long as this.
SILENT_AFTER: Final = timedelta(seconds=30)
# Silent for longer, while others are not, it was removed without a goodbye.
REMOVED_AFTER: Final = timedelta(hours=1)


class LastHeartbeats:
    """Note of when a collector's heartbeat changed last, by the clock of the pipeline.

    A shipper that works off a long backlog sends old heartbeats: its collector was not removed.
    """

    def __init__(self) -> None:
        """Know no collector."""
        self._seen: dict[str, tuple[int, int]] = {}

    def find_removed(self, beats: Mapping[str, int], now: int) -> set[str]:
        """Return the collectors whose last heartbeat is old, and has been the same for long."""
        for name, beat in beats.items():
            if self._seen.get(name, (None, 0))[0] != beat:
                self._seen[name] = beat, now
        self._seen = {name: seen for name, seen in self._seen.items() if name in beats}
        limit = from_micros(now) - REMOVED_AFTER
        return {name for name, seen in self._seen.items() if from_micros(max(seen)) < limit}


def find_unexcused(engine: Engine, now: int) -> int | None:
    """Return the oldest heartbeat of a collector that is silent and has no open gap yet, µs."""
    beats, gaps = tables.log_collector.c.heartbeat_at, tables.ingestion_gap.c
    is_silent = beats < to_micros(from_micros(now) - SILENT_AFTER)
    has_gap = exists().where(gaps.started_at == beats, gaps.ended_at.is_(None))
    with engine.connect() as connection:
        oldest = select(func.min(beats)).where(is_silent, ~has_gap)
        found: int | None = connection.scalar(oldest)
    return found


def note_silence(engine: Engine, now: int, last: LastHeartbeats) -> bool:
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
    removed = last.find_removed(beats, now)
    if removed and len(silent) < len(beats):
        _forget(engine, removed)
        silent -= removed
    return write_gaps(engine, {beats[name]: None for name in silent})


def _forget(engine: Engine, removed: set[str]) -> None:
    table = tables.log_collector
    with exclusive_transaction(engine) as connection:
        connection.execute(table.delete().where(table.c.collector.in_(removed)))
    log.error(
        "collectors_removed",
        collectors=sorted(removed),
        reason="silent for an hour while others are not; events in their spools did not land",
        next="bring their volumes back, or ignore this where they were empty",
    )
