"""Times in which the collector was silent, from its spool into the catalog.

Our fault, never a dataset's.
"""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Engine, select, text

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.upsert import insert_for
from lineage.process.clock import DAY_MICROS
from slis.stream.log.spool_reader import open_spool_to_read

SILENT_AFTER_MICROS = 3_000_000
# Older ones excuse nothing: the catalog has deleted them, or does so within the day.
_LONGEST_MICROS = 60 * DAY_MICROS

Gap = tuple[int, int | None]


def read_gaps(spool: Path, now: int) -> list[Gap]:
    """Return (started_at, ended_at) of each gap; of one that lasts, ended_at is None.

    One whose last heartbeat is ahead, by a clock that was wrong, has no beginning that is known:
    that heartbeat stands for it, and what fell due before is excused by nothing.

    Args:
        spool: of the collector; one that is not there yet has no gap.
        now: in microseconds.
    """
    if not spool.exists():
        return []
    with closing(open_spool_to_read(spool)) as connection:
        try:
            gaps: list[Gap] = connection.execute("SELECT started_at, ended_at FROM gap").fetchall()
            beat = connection.execute("SELECT beat_at FROM heartbeat").fetchone()
        except sqlite3.OperationalError:
            # The collector is about to create its tables.
            return []
    if beat and abs(now - beat[0]) > SILENT_AFTER_MICROS:
        gaps.append((beat[0], None))
    return gaps


def copy_gaps(spool: Path, engine: Engine, now: int) -> bool:
    """Bring the catalog's gaps up to the spool's; whether that changed anything."""
    since = now - _LONGEST_MICROS
    found = read_gaps(spool, now)
    return write_gaps(engine, {start: end for start, end in found if end is None or end >= since})


def write_gaps(engine: Engine, gaps: Mapping[int, int | None]) -> bool:
    """Write gaps, and delete open ones that are not among them; return whether that changed any.

    Args:
        engine: of the catalog.
        gaps: `ended_at` by `started_at`.
    """
    table = tables.ingestion_gap
    with engine.connect() as connection:
        known = {row.started_at: row.ended_at for row in connection.execute(select(table))}
    # A silence that was over before the collector called it a gap leaves an open row behind.
    over = [start for start, end in known.items() if end is None and start not in gaps]
    changed = {start: end for start, end in gaps.items() if known.get(start, -1) != end}
    if not changed and not over:
        return False
    with exclusive_transaction(engine) as connection:
        _write(connection, changed, over)
    return True


def _write(connection: Connection, changed: dict[int, int | None], over: list[int]) -> None:
    for start in over:
        connection.execute(
            text("DELETE FROM ingestion_gap WHERE started_at = :start"), {"start": start}
        )
    for start, end in changed.items():
        insert = insert_for(connection.dialect)(tables.ingestion_gap)
        connection.execute(
            insert.values(started_at=start, ended_at=end).on_conflict_do_update(
                index_elements=["started_at"], set_={"ended_at": end}
            )
        )
