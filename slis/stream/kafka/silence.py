"""Times in which a collector is silent, by the heartbeats that it sent through the topic.

Silence lasts until the collector sends something, or an operator removes the collector.
"""

from datetime import timedelta
from typing import Final

import structlog
from sqlalchemy import Connection, Engine, Row, exists, func, select

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.meta_keys import LOG_LAST_GOODBYE
from lineage.catalog.upsert import fold_rows, greatest
from lineage.process.clock import from_micros, to_micros
from slis.meta import read_meta
from slis.stream.kafka.heartbeats import forget_collectors
from slis.stream.log.gaps import write_gaps

log = structlog.get_logger(__name__)

# A shipper sends a heartbeat each 5 s, and a batch that brings it may take as long as this.
SILENT_AFTER: Final = timedelta(seconds=30)


def find_unexcused(engine: Engine, now: int) -> int | None:
    """Return the oldest heartbeat of a collector that is silent and has no open gap yet, µs."""
    beats, gaps = tables.log_collector.c.heartbeat_at, tables.ingestion_gap.c
    is_silent = beats < to_micros(from_micros(now) - SILENT_AFTER)
    has_gap = exists().where(gaps.started_at == beats, gaps.ended_at.is_(None))
    with engine.connect() as connection:
        oldest = select(func.min(beats)).where(is_silent, ~has_gap)
        found: int | None = connection.scalar(oldest)
    return found


def note_silence(engine: Engine, now: int) -> bool:
    """Open a gap for each collector that is silent; return whether the gaps changed.

    A gap stays open until a heartbeat or a goodbye arrives, or an operator removes the collector: a
    silent collector may hold events. A gap that is over was reported by the collector itself, or a
    heartbeat came and nothing was missed: the open one is deleted.
    """
    has_removed = remove_collectors(engine)
    beats = tables.log_collector.c.heartbeat_at
    is_silent = beats < to_micros(from_micros(now) - SILENT_AFTER)
    with engine.connect() as connection:
        silent = connection.scalars(select(beats).where(is_silent)).all()
    return write_gaps(engine, dict.fromkeys(silent)) or has_removed


def remove_collectors(engine: Engine) -> bool:
    """Forget the collectors whose removal is requested, and end their gaps; return whether any.

    The last collector is kept until another one runs, as after a goodbye.
    """
    with engine.connect() as connection:
        if not _find_requested(connection):
            return False
    with exclusive_transaction(engine) as connection:
        requested = _find_requested(connection)  # a report may have landed meanwhile
        if not requested:
            return False
        _remove(connection, requested)
    names = sorted(row.collector for row in requested)
    log.warning("collectors_removed", collectors=names, reason="an operator requested it")
    return True


def _remove(connection: Connection, requested: list[Row[tuple[str, int, int]]]) -> None:
    removed = forget_collectors(connection, {row.collector for row in requested})
    gaps = {row.heartbeat_at: _gap(row) for row in requested if row.collector in removed}
    # One that came back may have reported a longer gap of the same beginning.
    fold_rows(connection, tables.ingestion_gap, list(gaps.values()), {"ended_at": greatest})


def _find_requested(connection: Connection) -> list[Row[tuple[str, int, int]]]:
    """Return requests whose collector has sent no heartbeat since, and that are not done."""
    table, request = tables.log_collector.c, tables.collector_removal.c
    is_same = (request.collector == table.collector) & (request.heartbeat_at == table.heartbeat_at)
    columns = select(table.collector, table.heartbeat_at, request.requested_at)
    last = read_meta(connection, LOG_LAST_GOODBYE) or ""
    return list(
        connection.execute(
            columns.join(tables.collector_removal, is_same).where(table.collector != last)
        )
    )


def _gap(row: Row[tuple[str, int, int]]) -> dict[str, int]:
    """Return the gap of a collector: until the request it may have accepted events."""
    ended_at = max(row.heartbeat_at, row.requested_at)
    return {"started_at": row.heartbeat_at, "ended_at": ended_at}
