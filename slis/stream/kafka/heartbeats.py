"""Heartbeats and goodbyes of collectors, stored in the transaction of the batch."""

from collections.abc import Iterable

from sqlalchemy import Connection, select

from lineage.catalog import tables
from lineage.catalog.meta_keys import LOG_LAST_GOODBYE
from lineage.catalog.upsert import fold_rows
from lineage.input_log.records import GOODBYE, HEARTBEAT, Record
from slis.meta import put_meta, read_meta

_TABLE = tables.log_collector


def store_heartbeats(connection: Connection, reports: Iterable[Record]) -> None:
    """Keep the last heartbeat of each collector; forget one that has ended.

    The last collector that ended is kept until another one runs: nobody listens meanwhile.
    """
    last = _find_last(reports)
    if not last:
        return
    waiting = read_meta(connection, LOG_LAST_GOODBYE) or ""
    begins = [one.received_at for one in last.values() if one.kind == HEARTBEAT]
    if waiting and begins:
        _write_pause(connection, waiting, min(begins))
    rows = [{"collector": one.collector, "heartbeat_at": one.received_at} for one in last.values()]
    fold_rows(connection, _TABLE, rows)
    ended = {name for name, one in last.items() if one.kind == GOODBYE}
    if waiting and waiting not in last:
        ended.add(waiting)
    if ended or waiting:
        forget_collectors(connection, ended)


def _find_last(reports: Iterable[Record]) -> dict[str, Record]:
    last: dict[str, Record] = {}
    for one in reports:
        if one.kind in {HEARTBEAT, GOODBYE}:
            known = last.get(one.collector)
            if known is None or one.received_at >= known.received_at:
                last[one.collector] = one
    return last


def forget_collectors(connection: Connection, ended: set[str]) -> set[str]:
    """Delete collectors that ended, but the newest of them where none runs; return the deleted."""
    found = connection.execute(select(_TABLE.c.collector, _TABLE.c.heartbeat_at))
    beats = {row.collector: row.heartbeat_at for row in found}
    running = beats.keys() - ended
    kept = "" if running else max(ended & beats.keys(), key=beats.__getitem__, default="")
    deleted = ended - {kept}
    connection.execute(_TABLE.delete().where(_TABLE.c.collector.in_(deleted)))
    put_meta(connection, {LOG_LAST_GOODBYE: kept})
    return deleted


def _write_pause(connection: Connection, waiting: str, ended_at: int) -> None:
    """Write the time in which no collector ran as an ingestion gap."""
    started_at = connection.scalar(
        select(_TABLE.c.heartbeat_at).where(_TABLE.c.collector == waiting)
    )
    if started_at is not None and ended_at > started_at:
        row = {"started_at": started_at, "ended_at": ended_at}
        fold_rows(connection, tables.ingestion_gap, [row])
