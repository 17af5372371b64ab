"""Position in the topic, and what collectors report of themselves, in the catalog.

All of it is written in the transaction of the batch: either the batch and its position are there,
or neither.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec
from sqlalchemy import Connection, Engine, select, text, update

from lineage import origins
from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.meta_keys import LOG_LANDED
from lineage.catalog.upsert import fold_rows, insert_for
from lineage.input_log.records import FOREIGN, GAP, REJECTED, Record
from lineage.process.clock import HOUR_MICROS, to_micros
from slis.indicators.error_rate import HISTORY, LIVE, add_failures
from slis.lake.positions import FolderPosition, Windows
from slis.meta import put_meta, read_meta
from slis.stream.kafka.heartbeats import store_heartbeats
from slis.stream.kafka.plan import PartitionPosition
from slis.stream.kafka.range_reader import RangeResult
from slis.stream.merge.merge import RangeMismatchError

EXPIRED = "log_expired"
_Counts = list[tuple[int, str, str, int]]
_LAST_LANDED = "SELECT max(landed_at) FROM batch"


def read_positions(connection: Connection, topic: str) -> dict[int, PartitionPosition]:
    """Return where each partition was read to."""
    table = tables.log_position
    columns = table.c.partition, table.c.next_offset, table.c.windows
    rows = connection.execute(select(*columns).where(table.c.topic == topic))
    return {
        row.partition: PartitionPosition(
            row.next_offset, msgspec.json.decode(row.windows, type=Windows)
        )
        for row in rows
    }


def move_position(
    connection: Connection,
    topic: str,
    taken: RangeResult,
    *,
    before: int | None,
    end: int,
) -> None:
    """Move the position of one partition behind what was taken.

    Args:
        connection: inside the transaction of the batch.
        topic: its name.
        taken: what the batch took of the partition.
        before: the position that the batch was read from; None: there was none.
        end: of the partition, when the batch was read.

    Raises:
        RangeMismatchError: another pipeline has moved it meanwhile.
    """
    table = tables.log_position
    values = {
        "next_offset": taken.next_offset,
        "end_offset": max(end, taken.next_offset),
        "windows": msgspec.json.encode(taken.windows).decode(),
    }
    key = {"topic": topic, "partition": taken.partition}
    if before is None:
        insert = insert_for(connection.dialect)(table).values(**key, **values)
        moving = insert.on_conflict_do_nothing()
    else:
        mine = (table.c.topic == topic) & (table.c.partition == taken.partition)
        moving = update(table).where(mine & (table.c.next_offset == before)).values(**values)
    # By the row itself: of an INSERT, psycopg does not always know a count.
    if connection.execute(moving.returning(table.c.partition)).first() is None:
        raise RangeMismatchError(
            f"partition {taken.partition} of {topic} was read from offset {before}, but the "
            "catalog has another position: another pipeline landed events meanwhile. Make sure "
            "that one pipeline runs, and start it again: it works on from where the catalog ends."
        )


def read_landed(
    connection: Connection, topic: str, known: Mapping[int, PartitionPosition]
) -> dict[int, int]:
    """Return what follows the last record whose event has landed, by partition.

    Args:
        connection: to the catalog.
        topic: its name.
        known: position of the catalog, which may be behind further records without events.
    """
    text_ = read_meta(connection, LOG_LANDED + topic) or "{}"
    ends = {number: at.next_offset for number, at in known.items()}
    return ends | msgspec.json.decode(text_, type=dict[int, int])


def note_landed(connection: Connection, topic: str, landed: Mapping[int, int]) -> None:
    """Note up to where the records of events reach, in the transaction of their batch."""
    put_meta(connection, {LOG_LANDED + topic: msgspec.json.encode(landed).decode()})


def restore_positions(
    connection: Connection, position: FolderPosition, known: Mapping[int, PartitionPosition]
) -> None:
    """Move the position behind the records of a folder of the lake, whose events have landed.

    Args:
        connection: inside the transaction in which the last of them lands.
        position: of the folder.
        known: position of the catalog; records without events may have moved it further.
    """
    for partition, end in position.ends.items():
        at = known.get(partition)
        if at is not None and at.next_offset >= end:
            continue
        taken = RangeResult(partition, end, 0, 0, 0, None, position.windows[partition])
        before = None if at is None else at.next_offset
        move_position(connection, position.topic, taken, before=before, end=end)


def note_ends(engine: Engine, topic: str, offsets: Mapping[int, tuple[int, int]]) -> None:
    """Note where the partitions end now: the service shows by that what waits."""
    table = tables.log_position
    with engine.connect() as connection:
        columns = table.c.partition, table.c.end_offset
        rows = connection.execute(select(*columns).where(table.c.topic == topic)).all()
    changed = [row.partition for row in rows if offsets.get(row.partition, (0, 0))[1] != row[1]]
    if not changed:
        return
    with exclusive_transaction(engine) as connection:
        for partition in changed:
            mine = (table.c.topic == topic) & (table.c.partition == partition)
            end = offsets.get(partition, (0, 0))[1]
            connection.execute(update(table).where(mine).values(end_offset=end))


def store_reports(connection: Connection, reports: Iterable[Record], now: datetime) -> None:
    """Write heartbeats, gaps and counts of rejected bodies."""
    listed = list(reports)
    store_heartbeats(connection, listed)
    gaps = {one.received_at: one.ended_at for one in listed if one.kind == GAP}
    if gaps:
        rows = [{"started_at": start, "ended_at": end} for start, end in gaps.items()]
        fold_rows(connection, tables.ingestion_gap, rows)
    if rejected := _count_rejected(listed):
        add_failures(connection, "collector", rejected, now)


def store_lost(connection: Connection, lost: int, until: int | None, now: datetime) -> None:
    """Count records that the topic deleted before they were read, as failed events.

    The time since the last batch is an ingestion gap: what fell due in it is unknown.
    """
    hour = to_micros(now) // HOUR_MICROS * HOUR_MICROS
    add_failures(connection, "pipeline", [(hour, EXPIRED, LIVE, lost)], now)
    started = connection.scalar(text(_LAST_LANDED))
    if started is not None:
        ended = max(started, to_micros(now) if until is None else until)
        row = {"started_at": started, "ended_at": ended}
        fold_rows(connection, tables.ingestion_gap, [row])


def _count_rejected(reports: Iterable[Record]) -> _Counts:
    counts: Counter[tuple[int, str, str]] = Counter()
    for one in reports:
        if one.kind in {REJECTED, FOREIGN}:
            origin = HISTORY if one.origin in origins.OF_HISTORY else LIVE
            hour = one.received_at // HOUR_MICROS * HOUR_MICROS
            counts[hour, one.reason or one.kind, origin] += one.count
    return [(*key, count) for key, count in counts.items()]
