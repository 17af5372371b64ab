"""Stores heartbeats and goodbyes of collectors, in the transaction of the batch."""

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, select

from lineage.catalog import tables
from lineage.catalog.noted import LOG_LAST_GOODBYE
from lineage.catalog.upsert import fold_rows
from lineage.event_log.records import GOODBYE, HEARTBEAT, Record
from slis.noted import note, noted

_TABLE = tables.log_collector


def store_heartbeats(connection: Connection, reports: Iterable[Record]) -> None:
    """Keep the last heartbeat of each collector; forget one that said goodbye behind it.

    The last collector that ended is kept until another one runs: nobody listens meanwhile.
    """
    last = _find_last(reports)
    if not last:
        return
    rows = [{"collector": one.collector, "heartbeat_at": one.received_at} for one in last.values()]
    fold_rows(connection, _TABLE, rows)
    waiting = noted(connection, LOG_LAST_GOODBYE)
    ended = {name for name, one in last.items() if one.kind == GOODBYE}
    if waiting and waiting not in last:
        ended.add(waiting)
    if ended or waiting:
        _forget(connection, ended, waiting or "")


def _find_last(reports: Iterable[Record]) -> dict[str, Record]:
    last: dict[str, Record] = {}
    for one in reports:
        if one.kind in {HEARTBEAT, GOODBYE}:
            known = last.get(one.collector)
            if known is None or one.received_at >= known.received_at:
                last[one.collector] = one
    return last


def _forget(connection: Connection, ended: set[str], waiting: str) -> None:
    """Delete collectors that ended, but the newest of them where none runs."""
    found = connection.execute(select(_TABLE.c.collector, _TABLE.c.heartbeat_at))
    beats = {row.collector: row.heartbeat_at for row in found}
    running = beats.keys() - ended
    kept = "" if running else max(ended & beats.keys(), key=beats.__getitem__, default="")
    if running and waiting in ended:
        _write_pause(connection, beats, waiting, running)
    connection.execute(_TABLE.delete().where(_TABLE.c.collector.in_(ended - {kept})))
    note(connection, {LOG_LAST_GOODBYE: kept})


def _write_pause(
    connection: Connection, beats: Mapping[str, int], waiting: str, running: Iterable[str]
) -> None:
    """Write the time in which no collector ran; one that comes back under its name reports it."""
    ended_at = min(beats[name] for name in running)
    if waiting in beats and ended_at > beats[waiting]:
        row = {"started_at": beats[waiting], "ended_at": ended_at}
        fold_rows(connection, tables.ingestion_gap, [row])
